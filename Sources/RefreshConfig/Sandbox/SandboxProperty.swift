/// A property of the units of an app's tasks, from `[sandbox]` in the app's file.
///
/// The daemon passes it to the service manager with `StartTransientUnit` (org.freedesktop.systemd1(5)).
public struct SandboxProperty: Hashable, Sendable {
  /// The name of the property on the bus; some differ from the key, such as `CPUQuotaPerSecUSec`.
  public let name: String
  /// The value.
  public let value: Value

  /// A value of the type that the service manager expects.
  public enum Value: Hashable, Sendable {
    /// `b`
    case boolean(Bool)
    /// `s`
    case text(String)
    /// `as`
    case texts([String])
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `t`
    case uint64(UInt64)
    /// `(bas)`: allow only these, or all but these.
    case filter(isAllowing: Bool, [String])
    /// `a(iayu)`
    case addresses([AddressRange])
  }

  /// A range of internet addresses with a common prefix.
  public struct AddressRange: Hashable, Sendable {
    /// The family: AF_INET or AF_INET6.
    public let family: Int32
    /// The first address, in network byte order.
    public let address: [UInt8]
    /// The number of leading bits that all addresses share.
    public let prefixLength: UInt32

    /// Makes a range from its parts.
    public init(family: Int32, address: [UInt8], prefixLength: UInt32) {
      (self.family, self.address, self.prefixLength) = (family, address, prefixLength)
    }
  }

  init(_ name: String, _ value: Value) {
    self.name = name
    self.value = value
  }
}
