@preconcurrency import Glibc
import RefreshAPI

/// Shows transfers live: on a terminal in a table that is updated in place, elsewhere with a line for each change.
struct TransferBoard {
  let descriptor: Int32
  private var transfers: [Int64: Wire.Transfer] = [:]
  private var drawn = 0
  /// The columns of the terminal at the last drawing: a terminal that becomes narrower wraps the drawn lines again.
  private var columns: Int?

  /// Makes an empty board on a descriptor of this process.
  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Draws the next table below the present text of the terminal.
  mutating func begin() { drawn = 0 }

  /// Shows changed transfers, and removes those that the daemon has forgotten.
  mutating func show(_ changed: [Wire.Transfer], without forgotten: [Int64] = []) {
    let screen = Screen(of: descriptor)
    var text = ""
    for id in forgotten { transfers[id] = nil }
    if let height = screen.height {
      for transfer in changed { transfers[transfer.id] = transfer }
      let lines = screen.board(transfers.values.sorted { $0.id < $1.id }, height: height)
      // Move to the first line of the previous table and erase everything below (ECMA-48: CPL, ED).
      let back = drawn == 0 ? "" : columns == screen.width ? "\u{1B}[\(drawn)F\u{1B}[J" : "\u{1B}[H\u{1B}[2J"
      text = back + lines.map(screen.encoded).joined(separator: "\n") + "\n"
      (drawn, columns) = (lines.count, screen.width)
    } else {
      for transfer in changed {
        let before = transfers.updateValue(transfer, forKey: transfer.id)
        guard before == nil || before.map(screen.news) != screen.news(transfer) else { continue }
        text += screen.encoded(screen.line(transfer)) + "\n"
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
  /// A table that fits the lines of a terminal; ended transfers are left out first.
  func board(_ transfers: [Wire.Transfer], height: Int) -> [String] {
    // The last line is for the cursor.
    let room = max(1, height - 1)
    let all = text(transfers)
    guard all.count > room else { return all }
    let going = transfers.filter { $0.state != .ended }
    let ended = transfers.filter { $0.state == .ended }
    // A narrow screen has several lines for a transfer, so try how many transfers fit.
    for number in (1..<max(2, min(transfers.count, room))).reversed() {
      let shown = (going.prefix(number) + ended.suffix(max(0, number - going.count))).sorted { $0.id < $1.id }
      let lines = text(shown)
      if lines.count < room { return lines + [paint("and \(transfers.count - shown.count) more", .faint)] }
    }
    return [paint(TextWidth.cutEnd(of: count(transfers.count, "transfer"), to: width ?? .max), .faint)]
  }

  /// A transfer in one line, after the time.
  func line(_ transfer: Wire.Transfer) -> String {
    let amount = transfer.amount.isEmpty ? "" : " (\(transfer.amount))"
    let time = paint(clock(now, seconds: true), .faint)
    return
      "\(time)  \(transfer.id) \(printable(transfer.title)): \(paint(printable(news(transfer)), transfer.style))\(amount)"
  }

  /// The state of a transfer without its progress; a new line is printed only when this text changes.
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
