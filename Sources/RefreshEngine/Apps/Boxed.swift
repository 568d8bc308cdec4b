/// A value behind a pointer: a part that most apps do not have, or that many apps share.
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

/// Fields that most apps leave as they are in a new value.
protocol Emptiable: Hashable, Sendable {
  /// The fields of a new value; stored, because making them for each read takes longer than the read.
  static var empty: Self { get }
}

/// Keeps rare fields in a box, so that an app which leaves them empty pays for one pointer only.
@propertyWrapper
struct BoxedIfAny<Fields: Emptiable>: Hashable, Sendable {
  private var box: Boxed<Fields>?

  var wrappedValue: Fields {
    // Lent, so that reading one field does not copy the others.
    _read { if let box { yield box.value } else { yield Fields.empty } }
    set { box = newValue == Fields.empty ? nil : Boxed(newValue) }
  }

  init(wrappedValue: Fields) { self.wrappedValue = wrappedValue }
}
