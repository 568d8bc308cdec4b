import Glibc
import RefreshAPI
import Varlink

/// The two connections to the daemon: one watches the permission to use the network, the other carries calls, one at a time.
///
/// The caller passes the time. After a failure the link retries with a back-off of at most 5 s.
@MainActor
final class DaemonLink {
  /// The daemon's permission to use the network.
  struct Permission: Hashable, Sendable {
    let mayConnect: Bool
    let network: String
  }

  /// The method of a call.
  private enum Method {
    case deliver
    case report
  }

  private struct Connections {
    let watch: Client
    let work: Client
    let since: ContinuousClock.Instant
  }

  /// The time without an answer after which the link reports a problem; it keeps waiting.
  private static let answerTimeout = Duration.seconds(10)
  private static let silence = "cannot reach refreshd: it does not answer; restart it if that lasts"

  private let socket: SocketPath
  private var connections: Connections?
  private var pending: (method: Method, since: ContinuousClock.Instant)?
  private var queue = DeliveryQueue()
  private var report: [Wire.Source]?
  private var backOff = SourceBackOff(longest: .seconds(5))
  private var chance = SystemRandomNumberGenerator()
  /// The time of the next try; nil if no back-off applies.
  private(set) var retry: ContinuousClock.Instant?
  /// The latest permission; nil while there is no connection.
  private(set) var permission: Permission?
  /// The reason why the daemon accepts no messages; nil if it does.
  private(set) var problem: String?

  init(_ socket: SocketPath) { self.socket = socket }

  /// The descriptors for poll(2).
  var descriptors: [Int32] { connections.map { [$0.watch.descriptor, $0.work.descriptor] } ?? [] }

  /// The time when the daemon's silence becomes a problem; nil if no answer is pending, or if the problem is known.
  var alarm: ContinuousClock.Instant? { problem == Self.silence ? nil : silentSince.map { $0 + Self.answerTimeout } }

  /// The start of the wait for a pending answer.
  private var silentSince: ContinuousClock.Instant? { permission == nil ? connections?.since : pending?.since }

  /// Whether the daemon has answered on this connection.
  ///
  /// A new connection needs a new report on the sources.
  var isConnected: Bool { permission != nil }

  /// Queues messages until the daemon has stored or refused them.
  func add(_ messages: [Message], from source: ObjectIdentifier, then: @escaping ([MessageFate]) -> Void) {
    queue.add(messages, from: source, then: then)
  }

  /// Drops the source's queued messages that the source will receive again.
  func forget(_ source: ObjectIdentifier) {
    for action in queue.forget(source) { action() }
  }

  /// Queues a report on the sources, which replaces an unsent one.
  func report(_ sources: [Wire.Source]) { report = sources }

  /// Reads the daemon's answers without waiting.
  ///
  /// `isWanted` says whether a connection is needed even if no message is queued.
  func receive(at now: ContinuousClock.Instant, isWanted: Bool) {
    guard isWanted || queue.count > 0 else {
      close()
      (retry, problem) = (nil, nil)
      return
    }
    if let moment = retry, moment <= now { retry = nil }
    // During the back-off of a daemon that cannot store, its permission and its end still count.
    guard connections != nil || retry == nil else { return }
    do throws(ClientError) {
      try connect(at: now)
      try receivePermission()
      try receiveReply(at: now)
      if let alarm, alarm <= now { problem = Self.silence }
    } catch {
      fail(error, at: now)
    }
  }

  /// Sends the next call, if the last one has its answer.
  func send(at now: ContinuousClock.Instant) {
    do throws(ClientError) { try sendCall(at: now) } catch { fail(error, at: now) }
  }

  private func connect(at now: ContinuousClock.Instant) throws(ClientError) {
    guard connections == nil else { return }
    let connections = Connections(
      watch: try Client(path: socket.path), work: try Client(path: socket.path), since: now)
    try connections.watch.begin(PushInterface.Watch.self, .init(), more: true)
    self.connections = connections
  }

  private func receivePermission() throws(ClientError) {
    while let answer = try connections?.watch.nextAnswer(of: PushInterface.Watch.self) {
      // Only the first permission clears the problem: a later one does not mean that the daemon can store again.
      if permission == nil { problem = nil }
      permission = Permission(mayConnect: answer.parameters.mayConnect, network: answer.parameters.network)
      guard answer.continues else { throw .disconnected }
    }
  }

  private func receiveReply(at now: ContinuousClock.Instant) throws(ClientError) {
    guard let pending, let work = connections?.work else { return }
    switch pending.method {
    case .report:
      guard try work.nextAnswer(of: PushInterface.Report.self) != nil else { return }
      self.pending = nil
      if problem == Self.silence { problem = nil }
    case .deliver:
      guard let reply = try deliveryReply(of: work, at: now) else { return }
      self.pending = nil
      guard let actions = queue.accept(reply.results) else {
        throw .malformed("it has \(reply.results.count) results, but there is a different number of messages")
      }
      backOff.reset()
      problem = nil
      for action in actions { action() }
    }
  }

  /// The reply to a delivery; nil if it has not arrived, or if the daemon could store nothing.
  private func deliveryReply(of work: Client, at now: ContinuousClock.Instant) throws(ClientError) -> PushInterface
    .Deliver.Reply?
  {
    do throws(ClientError) {
      return try work.nextAnswer(of: PushInterface.Deliver.self)?.parameters
    } catch {
      guard case .failed(let reply) = error, reply.name == RefreshdInterface.NotStored.name else { throw error }
      let refusal = try reply.parameters(as: RefreshdInterface.NotStored.self)
      pending = nil
      queue.requeue(mayBeStored: false)
      problem = "cannot store pushes: \(refusal.problem)"
      retry = now + backOff.next(&chance)
      return nil
    }
  }

  private func sendCall(at now: ContinuousClock.Instant) throws(ClientError) {
    // The first permission shows that the server is a daemon that accepts pushes.
    guard let work = connections?.work, permission != nil, pending == nil, retry == nil else { return }
    if let sources = report {
      try work.begin(PushInterface.Report.self, .init(sources: sources), more: false)
      report = nil
      pending = (.report, now)
      return
    }
    let deliveries = queue.nextCall()
    guard !deliveries.isEmpty else { return }
    pending = (.deliver, now)
    try work.begin(PushInterface.Deliver.self, .init(deliveries: deliveries), more: false)
  }

  private func fail(_ error: ClientError, at now: ContinuousClock.Instant) {
    // Reset the back-off only after a stable connection or an accepted delivery.
    if let connections, permission != nil, connections.since + SourceBackOff.stable <= now { backOff.reset() }
    close()
    problem = Self.sentence(error, socket)
    retry = now + backOff.next(&chance)
  }

  private func close() {
    connections = nil
    pending = nil
    permission = nil
    queue.requeue(mayBeStored: true)
  }

  private static func sentence(_ error: ClientError, _ socket: SocketPath) -> String {
    switch error {
    case .unreachable: "\(error.description); \(socket.remedy)"
    case .disconnected: "cannot reach refreshd: it has closed the connection"
    case .failed(let reply) where reply.name == RefreshdInterface.NotAllowed.name:
      "cannot push: user \(geteuid()) may not push; run refresh-push as the user refresh-push"
    default: error.description
    }
  }
}
