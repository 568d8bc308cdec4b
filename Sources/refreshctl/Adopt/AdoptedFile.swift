@preconcurrency import Glibc
import RefreshEngine

/// The file of an app that replaces a timer.
struct AdoptedFile {
  let path: String

  var isThere: Bool { access(path, F_OK) == 0 }

  /// The directory of app files that people write: the machine's, or the user's own.
  static func folder(isUser: Bool) -> String {
    guard isUser else { return "/etc/refreshd/apps.d" }
    let home = environmentVariable("HOME") ?? "/"
    return "\(environmentVariable("XDG_CONFIG_HOME") ?? "\(home)/.config")/refreshd/apps.d"
  }

  /// Writes a new file, and creates missing parent directories.
  func create(_ text: String) throws(Failure) {
    var folder = ""
    for part in path.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o755)
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure("write") }
    defer { close(descriptor) }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else {
        let failure = failure("write")
        unlink(path)
        throw failure
      }
      bytes = bytes.dropFirst(count)
    }
  }

  func text() throws(Failure) -> String {
    guard let file = fopen(path, "re") else { throw failure("read") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Renames the file so that no daemon reads it, and returns the new path.
  func setAside() throws(Failure) -> String {
    let aside = "\(path).unadopted"
    guard rename(path, aside) == 0 else { throw failure("rename") }
    return aside
  }

  func remove() throws(Failure) {
    guard unlink(path) == 0 else { throw failure("remove") }
  }

  private func failure(_ act: String) -> Failure {
    let code = errno
    let remedy = code == EACCES || code == EPERM ? "; run it as root, or with --user for your own timers" : ""
    return Failure(
      status: code == EACCES || code == EPERM ? .notAllowed : .failed,
      text: "cannot \(act) \(path): \(errorText(code))\(remedy)")
  }
}

/// The line of an adopted app's file that names the timer and its former state.
struct TimerMark: Hashable {
  let timer: String
  /// The state of the timer's file, as systemctl names it.
  let fileState: String
  let wasActive: Bool
  /// The checksum of the file's other lines as `adopt` wrote them.
  private let checksum: String

  private static let start = "# refreshctl-adopted:"

  /// Makes the mark of a file with these other lines.
  init(_ timer: TimerSettings, over rest: String) {
    (self.timer, fileState, wasActive) = (timer.name, timer.fileState, timer.isActive)
    checksum = Self.checksum(of: rest)
  }

  /// Finds the line in the text of a file; nil if there is none.
  init?(in text: String) {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(Self.start) }) else { return nil }
    let words = line.dropFirst(Self.start.count).split(separator: " ")
    guard words.count == 4 else { return nil }
    (timer, fileState, wasActive) = (String(words[0]), String(words[1]), words[2] == "active")
    checksum = String(words[3])
  }

  /// Whether the text is unchanged since `adopt` wrote the file.
  func isUnchanged(_ text: String) -> Bool {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return Self.checksum(of: lines.filter { $0 != line }.joined(separator: "\n")) == checksum
  }

  /// A hash of the text, against accidental changes rather than an attacker.
  private static func checksum(of text: String) -> String { String(StableHash.of(text), radix: 16) }

  var line: String {
    [
      Self.start, timer, fileState.isEmpty ? "unknown" : fileState, wasActive ? "active" : "inactive", checksum,
    ].joined(separator: " ")
  }

  /// Whether the administrator's links start the timer at boot, so that `disable` turns it off.
  private var isEnabled: Bool { fileState.hasPrefix("enabled") }

  /// The systemctl calls that turn the timer off, in order.
  var off: [[String]] {
    if isEnabled { return [["disable", "--now"] + runtime + [timer]] }
    // A masked timer that is still active would count as failed.
    return [["stop", timer]] + (isMasked ? [["mask", timer]] : [])
  }

  /// Whether other links may start the timer at boot, as for a static timer, so that only a mask keeps it off.
  private var isMasked: Bool { fileState != "disabled" && !fileState.hasPrefix("linked") }

  private var runtime: [String] { fileState == "enabled-runtime" ? ["--runtime"] : [] }

  /// The systemctl calls that restore the timer, in order.
  var back: [[String]] {
    var calls: [[String]] = []
    if isEnabled {
      calls.append(["enable"] + runtime + [timer])
    } else if isMasked {
      calls.append(["unmask", timer])
    }
    if wasActive { calls.append(["start", timer]) }
    return calls
  }
}
