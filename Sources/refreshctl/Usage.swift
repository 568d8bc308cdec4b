import ArgumentParser
import RefreshAPI

struct UsageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage", abstract: "Show what is learnt of an app: when it is opened, and how often it has news.",
    discussion: """
      The next refresh is planned by it. To put a number of yours in its place, write it into the table [pin] of the
      app's file.
      """)

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @Flag(help: "Forget what is learnt, and learn it anew.")
  var forget = false

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    if forget {
      let reply = try Daemon(connection).call(ManagerInterface.Forget.self, .init(apps: [app]))
      try connection.show(reply) { $0.text(reply.apps) }
    } else {
      let reply = try Daemon(connection).call(ManagerInterface.Usage.self, .init(app: app))
      try connection.show(reply) { screen in
        reply.habits.map(screen.text) ?? ["Nothing is learnt of \(app): it was not refreshed yet, or is not adaptive."]
      }
    }
  }
}

extension Screen {
  /// The heights of a bar, in eighths of a line (Unicode, "Block Elements").
  private static let bars: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// A day of half hours as bars, and the numbers below.
  fileprivate func text(_ habits: Wire.Habits) -> [String] {
    let highest = max(0.02, (habits.week + habits.weekend).max() ?? 0)
    func row(_ day: [Double]) -> String {
      String(day.map { Self.bars[min(8, Int(($0 / highest * 8).rounded()))] })
    }
    var facts = Facts()
    facts.add("weekday", row(habits.week) + "  \(times(habits.week.reduce(0, +))) a day")
    facts.add("weekend", row(habits.weekend) + "  \(times(habits.weekend.reduce(0, +))) a day")
    facts.add("", paint("0     3     6     9     12    15    18    21    ", .faint))
    facts.add("new data", "\(times(habits.newDataPerDay)) a day")
    facts.add("cost", "\(Decimal.text(habits.cost)) of a typical refresh")
    if !habits.pinned.isEmpty { facts.add("pinned", habits.pinned.map(printable).joined(separator: ", ")) }
    return ["Openings that are expected, by the half hour:"] + facts.lines(on: self)
  }

  /// `once`, `6.5 times`.
  private func times(_ number: Double) -> String { "\(Decimal.text(number)) times" }
}
