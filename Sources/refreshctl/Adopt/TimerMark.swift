/// The line of an adopted app's file that says which timer it stands for, and how the timer was.
struct TimerMark: Hashable {
  let timer: String
  /// The state of the timer's file, as systemctl names it.
  let fileState: String
  let wasActive: Bool

  private static let start = "# refreshctl-adopted:"

  init(_ timer: TimerSettings) {
    (self.timer, fileState, wasActive) = (timer.name, timer.fileState, timer.isActive)
  }

  /// Finds the line in the text of a file; nil if there is none.
  init?(in text: String) {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(Self.start) }) else { return nil }
    let words = line.dropFirst(Self.start.count).split(separator: " ")
    guard words.count == 3 else { return nil }
    (timer, fileState, wasActive) = (String(words[0]), String(words[1]), words[2] == "active")
  }

  var line: String {
    "\(Self.start) \(timer) \(fileState.isEmpty ? "unknown" : fileState) \(wasActive ? "active" : "inactive")"
  }

  /// Whether links of the administrator start it at boot, so that taking them away is enough.
  private var isEnabled: Bool { fileState.hasPrefix("enabled") }

  /// The arguments of systemctl that turn the timer off, one call after the other.
  var off: [[String]] {
    if isEnabled { return [["disable", "--now", timer]] }
    // Links of the vendor start a static timer at boot; only a mask keeps it off. A mask of an active timer would make it
    // count as failed.
    return [["stop", timer]] + (isMasked ? [["mask", timer]] : [])
  }

  private var isMasked: Bool { fileState == "static" && wasActive }

  /// The arguments of systemctl that make the timer what it was, one call after the other.
  var back: [[String]] {
    var calls: [[String]] = []
    if isEnabled {
      calls.append(["enable"] + (fileState == "enabled-runtime" ? ["--runtime"] : []) + [timer])
    } else if isMasked {
      calls.append(["unmask", timer])
    }
    if wasActive { calls.append(["start", timer]) }
    return calls
  }
}
