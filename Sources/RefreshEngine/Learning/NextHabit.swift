extension Habit {
  /// How long before the middle of a habit a refresh may lie and still be the one that was made for it, in minutes.
  ///
  /// A refresh for an earlier opening is not explained by a later habit.
  private static let ahead = 120.0

  /// Whether a day has the habit; `day` counts as ``LocalTime/day``.
  func holds(onDay day: Int) -> Bool { weekdays & 1 << UInt8(((day % 7) + 7) % 7) != 0 }

  /// Minutes from a moment until the middle of the habit, if a refresh at the moment is in time for it and not too early.
  func wait(from moment: LocalTime) -> Double? {
    for day in moment.day...(moment.day + 1) where holds(onDay: day) {
      let wait = Double(day) * LocalTime.minutesOfDay + Double(minuteOfDay) - moment.minutes
      if wait >= 0, wait <= Self.ahead + spread { return wait }
    }
    return nil
  }
}

extension Usage {
  /// The habit that a refresh at a moment comes before; nil if no habit that can be named follows soon.
  public func habit(after moment: LocalTime) -> Habit? {
    let near = habits.compactMap { habit in habit.wait(from: moment).map { (habit: habit, wait: $0) } }
    return near.min { $0.wait < $1.wait }?.habit
  }
}
