// Times and days without a byte for nil, for values that each app has: with alignment, such a byte takes four or eight.

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

/// Keeps an optional local day; the earliest number stands for nil.
@propertyWrapper
struct PackedDay: Hashable, Sendable {
  private var number = Int32.min

  /// The day.
  var wrappedValue: Int32? {
    get { number == .min ? nil : number }
    set { number = newValue ?? .min }
  }

  /// Keeps a day.
  init(wrappedValue: Int32?) { self.wrappedValue = wrappedValue }
}

/// Keeps an optional count, which is never negative.
@propertyWrapper
public struct PackedCount: Hashable, Sendable {
  private var number: Int64 = -1

  /// The count.
  public var wrappedValue: Int64? {
    get { number < 0 ? nil : number }
    set { number = newValue ?? -1 }
  }

  /// Keeps a count.
  public init(wrappedValue: Int64?) { self.wrappedValue = wrappedValue }
}
