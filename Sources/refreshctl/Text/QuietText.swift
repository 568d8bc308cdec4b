import RefreshAPI

// Quiet hours are in the daemon's local time, which may differ from the reader's.

extension Screen {
  /// The quiet hours in the form of the file: `22:00 to 07:00`.
  func text(_ quiet: Wire.QuietHours) -> String {
    "\(time(quiet.fromMinutes)) to \(time(quiet.toMinutes))\(place(of: quiet))"
  }

  /// The end of quiet hours for an app, with the part that spreads the starts of apps.
  func end(of quiet: Wire.QuietHours, at end: Int64) -> String {
    let place = place(of: quiet)
    switch (minute(of: end, in: quiet) - quiet.toMinutes + 1440) % 1440 {
    case 0 where !place.isEmpty: return "\(time(quiet.toMinutes))\(place), \(clock(end)) here"
    case 1..<5: return "\(time(quiet.toMinutes))\(place), for this app \(clock(end)): starts are spread over 5 min"
    default: return clock(end)
    }
  }

  /// Whether a moment is in quiet hours.
  func isQuiet(_ at: Int64, _ quiet: Wire.QuietHours) -> Bool {
    let minute = minute(of: at, in: quiet)
    return quiet.fromMinutes <= quiet.toMinutes
      ? (quiet.fromMinutes..<quiet.toMinutes).contains(minute)
      : minute >= quiet.fromMinutes || minute < quiet.toMinutes
  }

  private func place(of quiet: Wire.QuietHours) -> String {
    ahead(quiet) == 0 ? "" : " in the daemon's local time"
  }

  /// The minute of the day on the daemon's clock.
  private func minute(of moment: Int64, in quiet: Wire.QuietHours) -> Int {
    ((calendar(moment).minuteOfDay + ahead(quiet)) % 1440 + 1440) % 1440
  }

  /// The offset of the daemon's local time from the reader's, in minutes; 0 if the daemon does not report it.
  private func ahead(_ quiet: Wire.QuietHours) -> Int {
    let local = calendar(now)
    let utc = Int((Double(now) / 60e6).rounded(.down))
    return quiet.eastMinutes.map { $0 - (local.day * 1440 + local.minuteOfDay - utc) } ?? 0
  }
}
