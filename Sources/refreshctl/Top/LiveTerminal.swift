@preconcurrency import Glibc

/// The terminal while the live screen is shown: raw keys without echo, on the alternate screen.
///
/// Only this class changes the terminal, so that ``leave()`` can undo every change.
final class LiveTerminal {
  /// The settings before the live screen; nil while it is not shown.
  private var before: termios?
  /// The text of the last frame, so that an equal frame is not sent again.
  private var shown = ""

  // The names are those of ECMA-48 and of xterm's private modes.
  private static let enterScreen = "\u{1B}[?1049h\u{1B}[?25l"
  private static let leaveScreen = "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"
  private static let home = "\u{1B}[H"
  private static let eraseLine = "\u{1B}[K"
  private static let eraseBelow = "\u{1B}[J"

  /// Whether the program can read keys and draw; a dumb terminal cannot move its cursor.
  static var isThere: Bool {
    isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && environmentVariable("TERM") != "dumb"
  }

  /// Shows the alternate screen, or redraws it after another program used the terminal.
  func enter() throws(Failure) {
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw Self.refusal() }
    let original = before ?? settings
    settings = original
    // Ctrl-C and Ctrl-Z stay signals, so that they work even if nobody reads keys.
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
    // Ctrl-S would stop the screen without a message.
    settings.c_iflag &= ~tcflag_t(IXON)
    withUnsafeMutableBytes(of: &settings.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
    }
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { throw Self.refusal() }
    // Entering the alternate screen twice would overwrite the saved cursor position.
    let isInside = before != nil
    before = original
    shown = ""
    try write(isInside ? Self.home + Self.eraseBelow : Self.enterScreen)
  }

  /// Restores the terminal; does nothing if it is already restored.
  func leave() {
    guard var settings = before else { return }
    before = nil
    // A terminal that is gone cannot be restored, and no reader is left for a message.
    do throws(Failure) { try write(Self.leaveScreen) } catch {}
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
  }

  /// Draws the rows from the first line.
  func draw(_ rows: [String], on screen: Screen) throws(Failure) {
    // Erase a line before writing it: after a full line, erasing would remove its last character.
    let lines = rows.map { Self.eraseLine + screen.encoded($0) }
    let rest = rows.count < screen.height ?? .max ? "\r\n" + Self.eraseBelow : ""
    let frame = Self.home + lines.joined(separator: "\r\n") + rest
    guard frame != shown else { return }
    shown = frame
    try write(frame)
  }

  /// Clears the screen, and draws the next frame in any case.
  func clear() throws(Failure) {
    shown = ""
    try write(Self.home + Self.eraseBelow)
  }

  /// Reads the bytes of pressed keys; nil when the terminal is gone.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return [] }
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  private func write(_ text: String) throws(Failure) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count >= 0 {
        bytes = bytes.dropFirst(count)
      } else if errno == EAGAIN {
        var waiting = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        poll(&waiting, 1, -1)
      } else if errno != EINTR {
        throw Self.refusal()
      }
    }
  }

  private static func refusal() -> Failure {
    Failure(
      status: .failed,
      text: "cannot use the terminal: \(errorText(errno)); `refreshctl top --plain` works without the screen")
  }
}
