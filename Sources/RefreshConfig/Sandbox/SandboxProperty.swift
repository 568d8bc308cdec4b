/// A property of the units of an app's tasks, which `[sandbox]` in its file asks for (FEATURES B5).
///
/// The service manager takes it with `StartTransientUnit` (org.freedesktop.systemd1(5)).
public struct SandboxProperty: Hashable, Sendable {
  /// The property's name on the bus, which is not always that of the key: `CPUQuotaPerSecUSec`.
  public let name: String
  /// The value.
  public let value: Value

  /// A value, of exactly the type that the service manager has for the property.
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
    /// `(bas)`: only these, or all but these.
    case filter(isAllowing: Bool, [String])
    /// `a(iayu)`
    case addresses([AddressRange])
  }

  /// Internet addresses that begin alike.
  public struct AddressRange: Hashable, Sendable {
    /// The family: AF_INET or AF_INET6.
    public let family: Int32
    /// The first address, in network byte order.
    public let address: [UInt8]
    /// How many bits at the beginning are the same in all of them.
    public let prefixLength: UInt32

    /// Makes a range of its parts.
    public init(family: Int32, address: [UInt8], prefixLength: UInt32) {
      (self.family, self.address, self.prefixLength) = (family, address, prefixLength)
    }
  }

  init(_ name: String, _ value: Value) {
    self.name = name
    self.value = value
  }
}
