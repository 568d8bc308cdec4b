import RefreshEngine

/// The table `[pin]` of an app's file: numbers that replace learnt numbers.
extension Pins {
  /// How many times of the day can be pinned.
  private static let mostOpenings = 48

  /// Reads the table; pins nothing if there is none.
  init(from section: inout Section) {
    self = section.readTable("pin", example: "[pin], a table of numbers") { Pins(table: &$0) } ?? Pins()
  }

  private init(table: inout Section) {
    self.init()
    newDataPerDay = table.read("new_data_per_day", .number(0.01...1000, example: 6.5))
    var count = 0
    let times = ValueType<[Int]>.array("12:00") { (text) throws(Unreadable) in
      guard let minute = QuietHours.minuteOfDay(text[...]) else {
        throw Unreadable(
          "cannot read \(quoted(text)) as a time of the day", remedy: #"write 00:00 to 23:59, as in "12:00""#)
      }
      count += 1
      guard count <= Self.mostOpenings else {
        throw Unreadable("cannot pin more than \(Self.mostOpenings) openings a day", remedy: "write the usual ones")
      }
      return minute
    }
    if let openings = table.read("openings", times) {
      self.openings = openings
      if openings.isEmpty {
        table.refuse(
          "openings", "cannot pin an empty list",
          remedy: "write a time of the day, or remove the key to have it learned")
      }
    }
    cost = table.read("cost", .number(0.25...8, example: 2))
  }
}
