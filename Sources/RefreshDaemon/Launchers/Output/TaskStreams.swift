import CLinux
import Glibc
import RefreshEngine

/// Makes the standard streams of a task.
enum TaskStreams {
  /// A descriptor that reads these bytes: a memory file, which holds any size and needs no writer.
  static func input(_ bytes: [UInt8], for program: String) throws(StartError) -> Int32 {
    let file = linux_memory_file("input")
    guard file >= 0 else { throw StartError(program, "cannot make its standard input", errno) }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      guard count > 0 else {
        let code = errno
        close(file)
        throw StartError(program, "cannot write its standard input", code)
      }
      written += count
    }
    lseek(file, 0, SEEK_SET)
    return file
  }

  /// A pipe for the output, with a non-blocking reading end.
  static func output(for program: String) throws(StartError) -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    guard linux_pipe(&ends) == 0 else { throw StartError(program, "cannot make a pipe for its output", errno) }
    // Only the reading end: programs expect that a write waits.
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }

  /// A pipe at a path (fifo(7)), which the next daemon can open again to read its contents.
  ///
  /// The writing end can read too, so that a task never finds the pipe without a reader (`EPIPE`) while the daemon is
  /// away.
  static func lastingOutput(at path: String, for program: String) throws(StartError) -> (reader: Int32, writer: Int32) {
    unlink(path)
    guard mkfifo(path, 0o600) == 0 else { throw StartError(program, "cannot make a pipe for its output", errno) }
    let writer = open(path, O_RDWR | O_CLOEXEC)
    guard writer >= 0 else { throw StartError(program, "cannot open the pipe for its output", errno) }
    let reader = reopenOutput(at: path)
    guard reader >= 0 else {
      let code = errno
      close(writer)
      throw StartError(program, "cannot open the pipe for its output", code)
    }
    return (reader, writer)
  }

  /// The reading end of a lasting pipe; negative if it cannot be opened.
  static func reopenOutput(at path: String) -> Int32 { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) }
}

/// The reason why a task could not be started, in a sentence.
struct StartError: Error {
  let sentence: String
  /// Whether the machine had no process, memory or descriptor to spare, which may be over in a moment.
  var isPassing = false

  init(sentence: String) { self.sentence = sentence }

  /// The end of a task that did not start for this reason.
  var exit: TaskEnd.Exit { isPassing ? .noMeans(sentence) : .notStarted(sentence) }

  private static let passing = [EAGAIN, ENOMEM, EMFILE, ENFILE]

  init(_ program: String, _ what: String, _ code: Int32, remedy: String = "") {
    self.init(sentence: "cannot start \(program): \(what): \(SystemCallError.text(of: code))\(remedy)")
    isPassing = Self.passing.contains(code)
  }

  /// Makes the sentence for an error of execve(2).
  init(_ program: String, exec code: Int32) {
    let remedy =
      switch code {
      case ENOENT: "; install it, or what its #! line names"
      case EACCES: "; make it executable for the app's owner"
      case ENOEXEC: "; it is neither a program of this machine nor a script with a #! line"
      default: ""
      }
    self.init(sentence: "cannot start \(program): \(SystemCallError.text(of: code))\(remedy)")
    isPassing = Self.passing.contains(code)
  }
}
