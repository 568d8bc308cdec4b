@preconcurrency import Glibc
import RefreshAPI

extension Screen {
  /// Transfers, a line each: their progress, or the reason why they wait.
  func text(_ transfers: [Wire.Transfer]) -> [String] {
    guard !transfers.isEmpty else { return ["There are no transfers."] }
    let hasManyApps = Set(transfers.map(\.app)).count > 1
    var table = Table(
      titles: ["ID"] + (hasManyApps ? ["APP"] : []) + ["", "WHAT", "PROGRESS", "BYTES", "STATE"],
      prose: hasManyApps ? 6 : 5)
    // A long bar would cut the STATE column, which is more useful.
    let longest = transfers.filter { $0.state == .transferring }.map { TextWidth.of(pace($0)) }.max() ?? 0
    var columns = min(20, 8 + ((width ?? 0) - 80) / 4)
    repeat {
      table.rows = transfers.map { row($0, hasManyApps: hasManyApps, bar: columns) }
      columns -= 1
    } while columns >= Self.leastBar - 1 && table.width(of: "STATE", on: self).map { $0 < longest } ?? false
    return table.lines(on: self)
  }

  private static let leastBar = 6

  private func row(_ transfer: Wire.Transfer, hasManyApps: Bool, bar: Int) -> [Cell] {
    [Cell("\(transfer.id)")] + (hasManyApps ? [Cell(transfer.app)] : []) + [
      Cell(transfer.direction == .upload ? "↑" : "↓", .faint), Cell(transfer.title), progress(transfer, bar: bar),
      Cell(transfer.amount), Cell(state(transfer), transfer.style),
    ]
  }

  /// The share, and a bar if the screen is wide enough.
  private func progress(_ transfer: Wire.Transfer, bar columns: Int) -> Cell {
    guard let share = transfer.share else { return "" }
    let bar = columns < Self.leastBar ? "" : ProgressBar.text(share, columns: columns) + " "
    return Cell(bar + ProgressBar.percent(share), transfer.style)
  }

  /// The state of a transfer: `12 MB/s, 1 min 30 s left`, `held: network`, `next attempt today 12:04: …`.
  func state(_ transfer: Wire.Transfer) -> String {
    let trouble = transfer.message.map { ": \($0)" } ?? ""
    switch transfer.state {
    case .transferring: return pace(transfer) + (transfer.rate == nil ? trouble : "")
    case .stopping: return "stopping"
    case .paused: return "paused; `refreshctl resume-transfer \(transfer.id)`"
    case .noSpace: return "no space on the disk" + trouble
    case .waiting: return waiting(transfer) + trouble
    case .ended:
      let ending = transfer.result?.rawValue ?? "ended"
      let when = transfer.endedMicroseconds.map { " " + relative($0, brief: true) } ?? ""
      return ending + when + (transfer.result == .done ? "" : trouble)
    }
  }

  private func pace(_ transfer: Wire.Transfer) -> String {
    guard let rate = transfer.rate, rate > 0 else { return transfer.attempts > 1 ? "resuming" : "starting" }
    let speed = "\(ByteCount.text(rate))/s"
    guard let total = transfer.total, total > transfer.bytes else { return speed }
    // At most ten years, so that the product does not overflow.
    let seconds = min((total - transfer.bytes) / rate + 1, 315_576_000)
    let left = seconds < 60 ? "\(seconds) s" : Elapsed.measured(seconds * 1_000_000)
    return "\(speed), \(left) left"
  }

  private func waiting(_ transfer: Wire.Transfer) -> String {
    if let holds = transfer.holds, !holds.isEmpty {
      return "held: \(holds.namesAndRemedies)"
    }
    guard let until = transfer.untilMicroseconds, until > now else { return "waiting for its turn" }
    return "next attempt \(clock(until))"
  }
}

/// A sentence about transfers, such as "Transfers 12, 13 and 14 are paused".
func sentence(_ ids: [Int64], _ result: String) -> String {
  let numbers = ids.map(String.init)
  guard let last = numbers.last, numbers.count > 1 else { return "Transfer \(numbers.joined()) is \(result)." }
  return "Transfers \(numbers.dropLast().joined(separator: ", ")) and \(last) are \(result)."
}

extension Wire.Transfer {
  /// The description of the transfer, else the name of its file.
  var title: String {
    if let description, !description.isEmpty { return description }
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The done share, 0 to 1; nil if unknown.
  var share: Double? {
    if result == .done { return 1 }
    guard let total, total > 0 else { return nil }
    return Double(bytes) / Double(total)
  }

  /// `1.2 GB of 2.3 GB`, or the bytes so far if the total is unknown.
  var amount: String {
    guard let total, total != bytes else { return bytes == 0 && total == nil ? "" : ByteCount.text(bytes) }
    return "\(ByteCount.text(bytes)) of \(ByteCount.text(total))"
  }

  var style: Style {
    switch state {
    case .transferring: .good
    case .waiting, .paused, .stopping: holds?.isEmpty == false || state != .waiting || message != nil ? .wait : .plain
    case .noSpace: .bad
    case .ended: result == .done ? .plain : result == .cancelled ? .faint : .bad
    }
  }
}

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
