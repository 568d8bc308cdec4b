import RefreshAPI

extension Screen {
  /// Transfers, a line each: how far they are, or why not.
  func text(_ transfers: [Wire.Transfer]) -> [String] {
    guard !transfers.isEmpty else { return ["There are no transfers."] }
    let hasManyApps = Set(transfers.map(\.app)).count > 1
    var table = Table(
      titles: ["ID"] + (hasManyApps ? ["APP"] : []) + ["", "WHAT", "PROGRESS", "BYTES", "STATE"],
      prose: hasManyApps ? 6 : 5)
    table.rows = transfers.map { transfer in
      [Cell("\(transfer.id)")] + (hasManyApps ? [Cell(transfer.app)] : []) + [
        Cell(transfer.direction == .upload ? "↑" : "↓", .faint), Cell(transfer.title), progress(transfer),
        Cell(transfer.amount), Cell(state(transfer), transfer.style),
      ]
    }
    return table.lines(on: self)
  }

  /// A bar where there is room for it, and the share.
  private func progress(_ transfer: Wire.Transfer) -> Cell {
    guard let share = transfer.share else { return "" }
    // What keeps a transfer is worth more room than a long bar.
    let columns = min(20, 8 + ((width ?? 0) - 80) / 4)
    let bar = columns < 6 ? "" : ProgressBar.text(share, columns: columns) + " "
    return Cell(bar + ProgressBar.percent(share), transfer.style)
  }

  /// What it does, or what keeps it: `12 MB/s, 1 min 30 s left`, `held: network`, `tried again today 12:04: …`.
  func state(_ transfer: Wire.Transfer) -> String {
    let trouble = transfer.message.map { ": \($0)" } ?? ""
    switch transfer.state {
    case .transferring: return pace(transfer)
    case .stopping: return "stopping"
    case .paused: return "paused; `refreshctl resume-transfer \(transfer.id)`"
    case .noSpace: return "no room on the disk" + trouble
    case .waiting: return waiting(transfer) + trouble
    case .ended:
      let ending = transfer.result?.rawValue ?? "ended"
      let when = transfer.endedMicroseconds.map { " " + relative($0, brief: true) } ?? ""
      return ending + when + (transfer.result == .done ? "" : trouble)
    }
  }

  private func pace(_ transfer: Wire.Transfer) -> String {
    guard let rate = transfer.rate, rate > 0 else { return transfer.attempts > 1 ? "going on" : "beginning" }
    let speed = "\(ByteCount.text(rate))/s"
    guard let total = transfer.total, total > transfer.bytes else { return speed }
    // Ten years are the longest that anybody waits; beyond them the product would overflow.
    let seconds = min((total - transfer.bytes) / rate + 1, 315_576_000)
    let left = seconds < 60 ? "\(seconds) s" : Elapsed.measured(seconds * 1_000_000)
    return "\(speed), \(left) left"
  }

  private func waiting(_ transfer: Wire.Transfer) -> String {
    if let holds = transfer.holds, !holds.isEmpty {
      return "held: " + holds.map { "\($0.name) (\($0.remedy))" }.joined(separator: ", ")
    }
    guard let until = transfer.untilMicroseconds, until > now else { return "waiting for its turn" }
    return "tried again \(clock(until))"
  }
}

extension Wire.Transfer {
  /// What people call it: its description, else the name of the file.
  var title: String {
    if let description, !description.isEmpty { return description }
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  /// How much of it is done, 0 to 1; nil where nobody knows.
  var share: Double? {
    if result == .done { return 1 }
    guard let total, total > 0 else { return nil }
    return Double(bytes) / Double(total)
  }

  /// `1.2 of 2.3 GB`, or what is there where nobody knows of how much.
  var amount: String {
    guard let total, total != bytes else { return bytes == 0 && total == nil ? "" : ByteCount.text(bytes) }
    return "\(ByteCount.text(bytes)) of \(ByteCount.text(total))"
  }

  /// The colour of its state.
  var style: Style {
    switch state {
    case .transferring: .good
    case .waiting, .paused, .stopping: holds?.isEmpty == false || state != .waiting || message != nil ? .wait : .plain
    case .noSpace: .bad
    case .ended: result == .done ? .plain : result == .cancelled ? .faint : .bad
    }
  }
}
