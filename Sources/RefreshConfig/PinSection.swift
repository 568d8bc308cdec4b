import RefreshEngine

/// The table `[pin]` of an app's file: numbers that take the place of learnt ones.
extension Pins {
  /// The most times of the day that can be pinned.
  private static let mostOpenings = 48

  /// Takes the table out of an app's section; pins nothing where there is none.
  init(from section: inout Section) {
    self.init()
    guard var table = section.takeTable("pin", example: "[pin], a table of numbers") else { return }
    newDataPerDay = table.takeNumber("new_data_per_day", within: 0.01...1000, example: 6.5)
    var minutes: [Int] = []
    let texts = table.takeTexts("openings", example: "12:00") { (text) throws(Unreadable) in
      guard let minute = QuietHours.minuteOfDay(text[...]) else {
        throw Unreadable(
          message: "cannot read \(quoted(text)) as a time of the day", remedy: #"write 00:00 to 23:59, as in "12:00""#)
      }
      guard minutes.count < Self.mostOpenings else {
        throw Unreadable(
          message: "cannot pin more than \(Self.mostOpenings) openings a day", remedy: "write the usual ones")
      }
      minutes.append(minute)
    }
    openings = texts == nil ? [] : minutes
    cost = table.takeNumber("cost", within: 0.25...8, example: 2)
    table.refuseUnknownKeys()
    section.adopt(table)
  }
}
