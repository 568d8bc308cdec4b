import CLinux
import Glibc

/// The standard streams of a task that are the daemon's to make.
enum TaskStreams {
  /// A descriptor to read these bytes from: a file in memory, because it holds any size without a writer.
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

  /// A pipe for the output, whose reading end does not block.
  static func output(for program: String) throws(StartError) -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    guard linux_pipe(&ends) == 0 else { throw StartError(program, "cannot make a pipe for its output", errno) }
    // Only this end: programs expect that writing waits.
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }

  /// Such a pipe at a path (fifo(7)), where another daemon finds it again with what is in it.
  ///
  /// Its writing end reads as well, so that a task that outlives the daemon never finds it without a reader (`EPIPE`).
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

  /// The reading end of such a pipe; negative when it cannot be opened.
  static func reopenOutput(at path: String) -> Int32 { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) }
}

/// Why a task could not be started, in a sentence.
struct StartError: Error {
  let sentence: String

  init(sentence: String) { self.sentence = sentence }

  init(_ program: String, _ what: String, _ code: Int32, remedy: String = "") {
    self.init(sentence: "cannot start \(program): \(what): \(SystemCallError.text(of: code))\(remedy)")
  }

  /// For what execve(2) answers.
  init(_ program: String, exec code: Int32) {
    let remedy =
      switch code {
      case ENOENT: "; install it, or what its #! line names"
      case EACCES: "; make it executable for the app's owner"
      case ENOEXEC: "; it is neither a program of this machine nor a script with a #! line"
      default: ""
      }
    self.init(sentence: "cannot start \(program): \(SystemCallError.text(of: code))\(remedy)")
  }
}
