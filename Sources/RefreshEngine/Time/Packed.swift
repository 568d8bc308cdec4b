// Times in eight bytes, for values that each app has: the plain types take sixteen.

/// Keeps an optional instant; the earliest instant stands for nil.
@propertyWrapper
public struct PackedInstant: Hashable, Sendable {
  private var microseconds = Int64.min

  /// The instant.
  public var wrappedValue: Instant? {
    get { microseconds == .min ? nil : Instant(microseconds: microseconds) }
    set { microseconds = newValue?.microseconds ?? .min }
  }

  /// Keeps an instant.
  public init(wrappedValue: Instant?) { self.wrappedValue = wrappedValue }
}

/// Keeps a duration in whole microseconds.
@propertyWrapper
public struct PackedDuration: Hashable, Sendable {
  private var microseconds: Int64

  /// The duration, rounded to whole microseconds toward zero.
  public var wrappedValue: Duration {
    get { .microseconds(microseconds) }
    set { microseconds = newValue.inMicroseconds }
  }

  /// Keeps a duration.
  public init(wrappedValue: Duration) { microseconds = wrappedValue.inMicroseconds }
}
