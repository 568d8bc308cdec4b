import CSystemd
import Glibc
import Synchronization
import Threads

/// Makes calls that pass descriptors, each on a thread and a connection of its own.
///
/// Everybody may send descriptors to a connection that takes any, and the last close of one may hang (``LastClose``). So a
/// ``Bus`` takes none, and the connection of a call lives only until the answer. Thread-confined, as its loop is.
public final class DescriptorCalls {
  private let address: BusAddress
  private let answers: ForeignAnswers
  private var arrival: IOSource?
  private var handlers: [Int: (BusCall.Answer) -> Void] = [:]
  private var count = 0

  /// Makes the calls on the bus at `address`.
  ///
  /// Throws when the loop has no room for an event.
  public init(_ address: BusAddress, on loop: EventLoop) throws(SystemdError) {
    self.address = address
    answers = try ForeignAnswers()
    arrival = try loop.watch(answers.descriptor, for: .readable) { [unowned self] _ in deliver() }
  }

  deinit { arrival?.cancel() }

  /// Calls a method and passes the reply to `handler` in a later turn of the loop; never starts the service.
  ///
  /// The descriptors among the arguments must stay open until then. A call without a reply within `timeout` microseconds
  /// fails.
  public func call(_ method: BusMethod, timeout: Int64, handler: @escaping (BusCall.Answer) -> Void) {
    count += 1
    handlers[count] = handler
    let number = count
    let code = DetachedThread.begin { [address, answers] in
      do throws(SystemdError) {
        let session = Unmanaged.passRetained(try BusSession(address, patience: timeout, takesDescriptors: true))
        answers.add(number, Result { () throws(BusError) in try session.takeUnretainedValue().call(method) })
        LastClose.whileHeld { session.release() }
      } catch {
        answers.add(number, .failure(BusError(error)))
      }
    }
    if code != 0 { answers.add(number, .failure(BusError(SystemdError(cannot: "make a thread", code: code)))) }
  }

  private func deliver() {
    for (number, answer) in answers.take() { handlers.removeValue(forKey: number)?(answer) }
  }
}

/// The answers that threads have for the loop.
private final class ForeignAnswers: Sendable {
  /// Readable while there are some.
  let descriptor: Int32
  private let waiting = Mutex<[(Int, BusCall.Answer)]>([])

  init() throws(SystemdError) {
    descriptor = systemd_eventfd()
    guard descriptor >= 0 else { throw SystemdError(cannot: "make an eventfd", code: errno) }
  }

  deinit { close(descriptor) }

  func add(_ number: Int, _ answer: BusCall.Answer) {
    waiting.withLock { $0.append((number, answer)) }
    eventfd_write(descriptor, 1)
  }

  func take() -> [(Int, BusCall.Answer)] {
    var count: eventfd_t = 0
    _ = eventfd_read(descriptor, &count)
    return waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
