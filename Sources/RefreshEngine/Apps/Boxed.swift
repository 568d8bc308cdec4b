/// A value behind a pointer: a part that few apps have, or that many apps share.
public final class Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
  /// The value in the box.
  public let value: Value

  /// Puts a value into a new box.
  public init(_ value: Value) { self.value = value }

  /// Compares the values; two pointers to one box are equal without a look.
  public static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
