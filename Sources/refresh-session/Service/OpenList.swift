import Glibc
import RefreshAPI
import Systemd

/// Prints `refresh-session --list`: the open apps, with the id of each for the key `desktop`.
final class OpenList {
  /// The longest wait for the sources, in microseconds.
  private static let patience: Int64 = 3_000_000

  private let settings: SessionSettings
  private let loop: EventLoop
  private var sources: SessionSources?
  private var timer: TimerSource?
  private var signals: [SignalSource] = []
  /// The signal that ended the wait; nil for none.
  private var interruption: Int32?

  init(_ settings: SessionSettings) throws(ServiceError) {
    self.settings = settings
    do throws(SystemdError) {
      loop = try EventLoop()
      for number in [SIGTERM, SIGINT, SIGHUP] {
        signals.append(
          try loop.onSignal(number) { [unowned self] in
            interruption = number
            loop.exit(0)
          })
      }
      timer = try loop.timer { [unowned loop] in loop.exit(0) }
      timer?.arm(at: EventLoop.bootMicroseconds() + Self.patience, accuracy: 10_000)
      sources = try SessionSources(settings, on: loop, Journal(identifier: "refresh-session")) { [unowned self] in
        leaveIfSettled()
      }
      sources?.follow([])
    } catch {
      throw ServiceError(error)
    }
  }

  /// Prints the list after the sources have answered, or returns a signal that came earlier.
  func print() throws(ServiceError) -> Int32? {
    leaveIfSettled()
    do throws(SystemdError) { _ = try loop.run() } catch { throw ServiceError(error) }
    guard let sources else { return nil }
    // KWin's script must not outlive its reader.
    defer { sources.stop() }
    guard interruption == nil else { return interruption }
    for line in Self.lines(of: sources.desk) { Swift.print(line) }
    if let remedy = sources.windows.remedy {
      Journal(identifier: "refresh-session").write(JournalEntry("cannot see windows: \(remedy)", priority: .warning))
    }
    return nil
  }

  private func leaveIfSettled() {
    if sources?.isSettled == true { loop.exit(0) }
  }

  /// The table of open apps, in the order of their ids.
  static func lines(of desk: Desk) -> [String] {
    var seen: [String: [String]] = Dictionary(uniqueKeysWithValues: desk.running.map { ($0, ["runs"]) })
    for window in desk.windows {
      guard let id = window.desktopID(desk.classes) else { continue }
      let words = window.isMinimised ? "minimised window" : window.isFocused ? "window in front" : "window"
      if seen[id]?.contains(words) != true { seen[id, default: []].append(words) }
    }
    guard !seen.isEmpty else { return ["Nothing with an id is open."] }
    let rows = seen.sorted { $0.key < $1.key }.map { (id: printable($0.key), words: $0.value.joined(separator: ", ")) }
    let width = max(2, rows.map(\.id.count).max() ?? 0)
    func padded(_ text: String) -> String { text + String(repeating: " ", count: width - text.count) }
    return ["\(padded("ID"))  SEEN AS"] + rows.map { "\(padded($0.id))  \($0.words)" }
  }

  /// The text made safe for a terminal.
  private static func printable(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.isPrintable ? Character($0) : "?" })
  }
}
