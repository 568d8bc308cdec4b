import Glibc
import JSON
import RefreshAPI
import Varlink

/// The environment variables and the standard input that refreshd gives a built-in task.
struct TaskContext {
  /// The most bytes of an order; the limits on URLs and paths keep every order below.
  private static let longestOrder = 256 << 10

  /// The id of the app.
  let app: String
  /// The trigger of the refresh.
  let trigger: String
  private let socket: String
  private let token: String

  /// Reads the environment; nil if refreshd did not start this process.
  init?() {
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    guard let app = variable("REFRESH_APP"), let trigger = variable("REFRESH_TRIGGER"),
      let socket = variable("REFRESH_SOCKET"), let token = variable("REFRESH_TOKEN")
    else {
      logError("cannot work: REFRESH_SOCKET, REFRESH_TOKEN or others are not set; refreshd sets them")
      return nil
    }
    (self.app, self.trigger, self.socket, self.token) = (app, trigger, socket, token)
  }

  /// Confines the process, reads its order and runs the task in time; returns the exit code.
  static func run<Order: JSONReadable>(
    _ type: Order.Type, _ task: (_ order: Order, _ context: TaskContext) -> Int32
  ) -> Int32 {
    let failure = Confinement.enter()
    guard let context = TaskContext(), let order = Self.order(as: type) else { return EX_USAGE }
    if let failure { return context.end(TaskResult(failure)) }
    context.endInTime()
    return task(order, context)
  }

  /// Confines the process and reads its order; ends the process if one of these fails.
  static func confinedOrder<Order: JSONReadable>(as type: Order.Type) -> Order {
    if let failure = Confinement.enter() {
      logError(failure.message)
      exit(EX_OSERR)
    }
    guard let order = order(as: type) else { exit(EX_USAGE) }
    return order
  }

  /// Sets an alarm that ends the process a minute after the deadline of its refresh, the longest grace.
  ///
  /// The daemon normally stops the task before; the alarm is for a daemon that is gone.
  private func endInTime() {
    guard Self.secondsLeft < .max else { return }
    alarm(UInt32(clamping: max(1, Self.secondsLeft + 60)))
  }

  /// The seconds until the deadline of the refresh; negative after it, and `.max` if there is no deadline.
  static var secondsLeft: Int64 {
    guard let text = getenv("REFRESH_DEADLINE"), let deadline = Int64(String(cString: text)) else { return .max }
    return deadline - Int64(time(nil))
  }

  /// Reads the order from standard input; nil if the input is not an order.
  static func order<Order: JSONReadable>(as type: Order.Type) -> Order? {
    var bytes = [UInt8](repeating: 0, count: longestOrder)
    var length = 0
    while length < bytes.count {
      let count = bytes.withUnsafeMutableBytes { all in
        let rest = UnsafeMutableRawBufferPointer(rebasing: all[length...])
        return read(STDIN_FILENO, rest.baseAddress, rest.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      length += count
    }
    do {
      return try Order(jsonText: Array(bytes[..<length]))
    } catch {
      logError("cannot read an order from standard input; refresh-worker is started by refreshd")
      return nil
    }
  }

  /// Calls a method of the daemon.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: (_ token: String) -> Method.Parameters
  ) throws(ClientError) -> Method.Reply {
    try Client(path: socket).call(Method.self, parameters(token))
  }

  /// Makes the daemon store what the next run of the task needs; `name` is the URL, or the pair of a replication.
  func remember(_ remembered: Wire.FetchOrder.Remembered, of name: String) {
    do throws(ClientError) {
      _ = try call(WorkerInterface.Remember.self) { token in
        WorkerInterface.Remember.Parameters(
          token: token, url: name, finalURL: remembered.url, etag: remembered.etag,
          lastModified: remembered.lastModified, digest: remembered.digest)
      }
    } catch {
      logError("cannot let refreshd remember the answer, so the next refresh fetches it again: \(error)")
    }
  }

  /// Reports the result to the daemon and returns the exit code.
  func end(_ result: TaskResult) -> Int32 {
    do throws(ClientError) {
      _ = try call(AppInterface.Complete.self) { token in
        AppInterface.Complete.Parameters(
          token: token, outcome: result.outcome, message: result.message,
          retryAfterMicroseconds: result.retryAfter?.microseconds, temporary: result.isTemporary ? true : nil,
          freshForMicroseconds: result.freshFor?.microseconds)
      }
    } catch {
      logError("\(result.message) (cannot report it to refreshd: \(error))")
    }
    return result.exitCode
  }
}

/// Writes a line to standard error, which systemd connects to the app's journal.
func logError(_ line: String) {
  var text = line + "\n"
  text.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Writes lines to standard output for people who watch the refresh.
///
/// The journal also contains the lines, so a line without a reader is dropped.
enum ShownLines {
  /// The most bytes of an atomic write to a pipe (pipe(7), `PIPE_BUF`).
  private static let longest = 4096

  /// Makes writes to a full pipe drop the line instead of blocking.
  static func open() {
    let flags = fcntl(STDOUT_FILENO, F_GETFL)
    if flags >= 0 { _ = fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) }
  }

  static func write(_ text: String) {
    let bytes = text.utf8.prefix(longest - 1) + [UInt8(ascii: "\n")]
    _ = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}
