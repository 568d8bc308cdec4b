import Glibc
import JSON

@testable import Varlink

/// Checks after each turn which sockets of a daemon are ready.
final class SimulatedReactor: Reactor {
  final class SocketWatch: Watch {
    let descriptor: Int32
    var events: Readiness
    fileprivate let handler: (Readiness) -> Void
    fileprivate var isCancelled = false

    init(_ descriptor: Int32, _ events: Readiness, _ handler: @escaping (Readiness) -> Void) {
      (self.descriptor, self.events, self.handler) = (descriptor, events, handler)
    }

    func cancel() { isCancelled = true }
  }

  /// Whether it does not hear that a client has hung up.
  private let isDeaf: Bool
  private var watches: [SocketWatch] = []

  init(isDeaf: Bool) { self.isDeaf = isDeaf }

  func watch(
    _ descriptor: Int32, for events: Readiness, handler: @escaping (Readiness) -> Void
  ) throws -> any Watch {
    let watch = SocketWatch(descriptor, events, handler)
    watches.append(watch)
    return watch
  }

  /// Calls the handlers of all that are ready; false if none is.
  func turn(while isAlive: () -> Bool) -> Bool {
    guard isAlive() else { return false }
    watches.removeAll(where: \.isCancelled)
    let found = Sockets.ready(watches.map { ($0.descriptor, $0.events) })
    var isAny = false
    for (watch, readiness) in zip(watches, found) where !readiness.isEmpty && !watch.isCancelled && isAlive() {
      if isDeaf, readiness.contains(.hangup) { continue }
      isAny = true
      watch.handler(readiness)
    }
    return isAny
  }
}

private enum Sockets {
  static func ready(_ sockets: [(descriptor: Int32, events: Readiness)]) -> [Readiness] {
    // poll(2) and epoll(7) give the same bits.
    var polled = sockets.map { pollfd(fd: $0.descriptor, events: Int16($0.events.rawValue), revents: 0) }
    guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return [] }
    return polled.map { Readiness(rawValue: UInt32($0.revents)) }
  }
}

/// A connection of a program to the daemon.
final class SimulatedClient {
  fileprivate var descriptor: Int32
  private var input: [UInt8] = []
  /// Called with each reply: its parameters, and the name of the error, if it is one.
  var onReply: (JSONValue, String?) -> Void = { _, _ in }
  /// Called when the daemon is gone.
  var onLost: () -> Void = {}

  fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

  var isOpen: Bool { descriptor >= 0 }

  func call(_ method: String, _ parameters: String, more: Bool = false) {
    guard isOpen else { return }
    let text = "{\"method\":\"org.refreshd.\(method)\",\"parameters\":\(parameters)\(more ? ",\"more\":true" : "")}\0"
    _ = Array(text.utf8).withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  func hangUp() {
    guard isOpen else { return }
    close(descriptor)
    descriptor = -1
  }

  /// Reads what is there, and hands on each reply.
  fileprivate func read() {
    var chunk = [UInt8](repeating: 0, count: 16384)
    let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
    guard count > 0 else {
      if count == 0 { lose() }
      return
    }
    input += chunk[..<count]
    while isOpen, let end = input.firstIndex(of: 0) {
      let message = Array(input[..<end])
      input.removeFirst(end + 1)
      do {
        let reply = try JSONValue(jsonText: message)
        onReply(reply["parameters"] ?? .object([]), reply["error"]?.string)
      } catch {
        print("no JSON from the daemon: \(error)")
      }
    }
  }

  fileprivate func lose() {
    guard isOpen else { return }
    hangUp()
    onLost()
  }
}

/// The connections of all programs to the daemon.
final class SimulatedClients {
  private var clients: [SimulatedClient] = []

  /// Connects to the daemon; nil if it does not listen.
  func connect(to path: String) -> SimulatedClient? {
    do throws(SocketError) {
      let client = SimulatedClient(try UnixSocket.connect(to: path))
      clients.append(client)
      return client
    } catch {
      return nil
    }
  }

  /// Has all programs read what the daemon has sent; false if it has sent nothing.
  func hear(while isAlive: () -> Bool) -> Bool {
    guard isAlive() else { return false }
    clients.removeAll { !$0.isOpen }
    let found = Sockets.ready(clients.map { ($0.descriptor, .readable) })
    var isAny = false
    for (client, readiness) in zip(clients, found) where !readiness.isEmpty && client.isOpen && isAlive() {
      isAny = true
      client.read()
    }
    return isAny
  }

  /// Closes the connections to a daemon that is gone, without reading its last messages.
  func loseDaemon() {
    let lost = clients
    clients = []
    for client in lost { client.lose() }
  }
}

extension JSONValue {
  var string: String? { if case .text(let text) = self { text } else { nil } }
  var integer: Int64? { if case .number(let digits) = self { Int64(digits) } else { nil } }
  var elements: [JSONValue] { if case .list(let elements) = self { elements } else { [] } }
}
