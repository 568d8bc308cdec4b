@preconcurrency import Glibc
import RefreshAPI

/// Transfers as they go on: a table that is kept up to date in place on a terminal, elsewhere a line for each change.
struct TransferBoard {
  /// Where it is shown.
  let descriptor: Int32
  private var transfers: [Int64: Wire.Transfer] = [:]
  private var drawn = 0

  /// A board on a descriptor of this process, with nothing on it.
  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Takes what has changed and the numbers of what is not listed any more, and shows it.
  mutating func show(_ changed: [Wire.Transfer], without forgotten: [Int64] = []) {
    let screen = Screen(of: descriptor)
    var text = ""
    for id in forgotten { transfers[id] = nil }
    if let height = screen.height {
      for transfer in changed { transfers[transfer.id] = transfer }
      let lines = screen.board(transfers.values.sorted { $0.id < $1.id }, height: height)
      // Up to the first line of the table before, and everything below it away (ECMA-48: CPL, ED).
      text = (drawn > 0 ? "\u{1B}[\(drawn)F\u{1B}[J" : "") + lines.joined(separator: "\n") + "\n"
      drawn = lines.count
    } else {
      for transfer in changed {
        let before = transfers.updateValue(transfer, forKey: transfer.id)
        guard before == nil || before.map(screen.news) != screen.news(transfer) else { continue }
        text += screen.line(transfer) + "\n"
      }
    }
    write(text)
  }

  private func write(_ text: String) {
    let stream = descriptor == STDERR_FILENO ? stderr : stdout
    fputs(text, stream)
    fflush(stream)
  }
}

extension Screen {
  /// A table that fits a terminal of so many lines: what has ended goes first where there is no room for all.
  func board(_ transfers: [Wire.Transfer], height: Int) -> [String] {
    // The titles, the line that says what is left out, and the line of the cursor.
    let room = max(1, height - 3)
    guard transfers.count > room else { return text(transfers) }
    let going = transfers.filter { $0.state != .ended }
    let ended = transfers.filter { $0.state == .ended }
    let shown = (going.prefix(room) + ended.suffix(max(0, room - going.count))).sorted { $0.id < $1.id }
    return text(shown) + [paint("and \(transfers.count - shown.count) more", .faint)]
  }

  /// A transfer in one line, the time first.
  func line(_ transfer: Wire.Transfer) -> String {
    let amount = transfer.amount.isEmpty ? "" : " (\(transfer.amount))"
    let time = paint(clock(now, seconds: true), .faint)
    return
      "\(time)  \(transfer.id) \(printable(transfer.title)): \(paint(printable(news(transfer)), transfer.style))\(amount)"
  }

  /// What is news about a transfer where lines are not overwritten: its state, not its progress.
  fileprivate func news(_ transfer: Wire.Transfer) -> String {
    switch transfer.state {
    case .transferring: "transferring"
    case .ended:
      (transfer.result?.rawValue ?? "ended")
        + (transfer.result == .done ? "" : transfer.message.map { ": \($0)" } ?? "")
    default: state(transfer)
    }
  }
}
