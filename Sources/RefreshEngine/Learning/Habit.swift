/// A habit of the user: an app is opened around a time of day.
public struct Habit: Hashable, Sendable {
  /// The minute of the local day in the middle.
  public var minuteOfDay: Int
  /// How far two openings of three lie from it at most, in minutes.
  public var spread: Double
  /// The days of the week that have it: bit 0 for Monday to bit 6 for Sunday.
  public var weekdays: UInt8
  /// On how many of the last such days the app was opened around this time.
  public var met: Int
  /// How many days that is of: the last 10 at most.
  public var days: Int

  /// Makes a habit of its parts.
  public init(minuteOfDay: Int, spread: Double, weekdays: UInt8, met: Int, days: Int) {
    self.minuteOfDay = minuteOfDay
    self.spread = spread
    self.weekdays = weekdays
    self.met = met
    self.days = days
  }
}
