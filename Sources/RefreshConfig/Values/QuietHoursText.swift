import RefreshEngine

/// Quiet hours as text: two times of the day with a hyphen between them.
extension QuietHours {
  /// Reads quiet hours such as `22:00-06:00`, local time, 00:00 to 23:59.
  ///
  /// The hours may span midnight.
  public init(_ text: String) throws(Unreadable) {
    let times = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.minuteOfDay)
    guard times.count == 2, let from = times[0], let to = times[1] else {
      throw Self.unreadable("cannot read \(quoted(text)) as quiet hours")
    }
    guard from != to else {
      throw Self.unreadable("cannot tell the quiet hours of \(quoted(text)): they begin and end at the same time")
    }
    self.init(from: from, to: to)
  }

  /// Reads `HH:MM`; nil for anything else.
  static func minuteOfDay(_ text: Substring) -> Int? {
    let digits = text.utf8.map { Int($0) - Int(UInt8(ascii: "0")) }
    guard digits.count == 5, Array(text.utf8)[2] == UInt8(ascii: ":"),
      [0, 1, 3, 4].allSatisfy({ (0...9).contains(digits[$0]) })
    else { return nil }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }

  private static func unreadable(_ message: String) -> Unreadable {
    Unreadable(
      message, remedy: #"write two times from 00:00 to 23:59, as in "22:00-06:00", or "never""#)
  }
}
