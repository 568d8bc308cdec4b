import Glibc
import RefreshAPI
import Varlink

/// The connections to the daemon: one that hears what may be done, and one for what it is told, one call at a time.
///
/// It knows no clock but what it is given; where the daemon is gone or cannot store, it waits 5 s at the most.
@MainActor
final class DaemonLink {
  typealias Instant = ContinuousClock.Instant

  /// What the daemon says of the network.
  struct Policy: Hashable, Sendable {
    let mayConnect: Bool
    let network: String
  }

  /// What the last call asked.
  private enum Question {
    case deliver
    case report
  }

  private struct Connections {
    let watch: Client
    let work: Client
    let since: Instant
  }

  /// After so long without an answer the daemon does not answer; it is waited for all the same.
  private static let patience = Duration.seconds(10)
  private static let silence = "cannot go on with refreshd: it does not answer; start it again if that lasts"

  private let socket: SocketPath
  private var connections: Connections?
  private var asked: (question: Question, at: Instant)?
  private var queue = DeliveryQueue()
  private var report: [Wire.Source]?
  private var backOff = BackOff(longest: .seconds(5))
  private var chance = SystemRandomNumberGenerator()
  /// When the daemon is to be asked again; nil while nothing stands against it.
  private(set) var retry: Instant?
  /// What it last said; nil while it is not there.
  private(set) var policy: Policy?
  /// Why it cannot be asked; nil if it can.
  private(set) var problem: String?

  init(_ socket: SocketPath) { self.socket = socket }

  /// To wait on in poll(2).
  var descriptors: [Int32] { connections.map { [$0.watch.descriptor, $0.work.descriptor] } ?? [] }

  /// When the daemon will have been silent for too long; nil if it owes no answer, or if that is told already.
  var alarm: Instant? { problem == Self.silence ? nil : silentSince.map { $0 + Self.patience } }

  /// Since when an answer is owed.
  private var silentSince: Instant? { policy == nil ? connections?.since : asked?.at }

  /// Whether the daemon is there: what it is told of the sources it forgets when it is not.
  var isConnected: Bool { policy != nil }

  /// Takes messages, which it keeps until the daemon has them.
  func add(_ messages: [Message], from source: ObjectIdentifier, then: @escaping ([Acceptance]) -> Void) {
    queue.add(messages, from: source, then: then)
  }

  /// Forgets what the daemon was not given yet of a source and what it brings again.
  func forget(_ source: ObjectIdentifier) {
    for action in queue.forget(source) { action() }
  }

  /// Has the daemon told how the sources are, in the place of what it was to be told before.
  func report(_ sources: [Wire.Source]) { report = sources }

  /// Takes what the daemon says, without waiting; `isWanted` says whether it is needed for more than what it is owed.
  func hear(at now: Instant, isWanted: Bool) {
    guard isWanted || queue.count > 0 else {
      close()
      (retry, problem) = (nil, nil)
      return
    }
    if let moment = retry, moment <= now { retry = nil }
    // A daemon that cannot store is heard meanwhile: what it says, and its end.
    guard connections != nil || retry == nil else { return }
    do throws(ClientError) {
      try connect(at: now)
      try takePolicy()
      try takeAnswer(at: now)
      if let alarm, alarm <= now { problem = Self.silence }
    } catch {
      fail(error, at: now)
    }
  }

  /// Asks the daemon what there is to ask, if the last call is answered.
  func tell(at now: Instant) {
    do throws(ClientError) { try ask(at: now) } catch { fail(error, at: now) }
  }

  private func connect(at now: Instant) throws(ClientError) {
    guard connections == nil else { return }
    let connections = Connections(
      watch: try Client(path: socket.path), work: try Client(path: socket.path), since: now)
    try connections.watch.begin(PushInterface.Watch.name, PushInterface.Watch.Parameters(), more: true)
    self.connections = connections
  }

  private func takePolicy() throws(ClientError) {
    while let answer = try connections?.watch.nextAnswer(as: PushInterface.Watch.Reply.self) {
      // Later words on the network do not say that it can store again.
      if policy == nil { problem = nil }
      policy = Policy(mayConnect: answer.parameters.mayConnect, network: answer.parameters.network)
      guard answer.continues else { throw .disconnected }
    }
  }

  private func takeAnswer(at now: Instant) throws(ClientError) {
    guard let asked, let work = connections?.work else { return }
    switch asked.question {
    case .report:
      guard try work.nextAnswer(as: PushInterface.Report.Reply.self) != nil else { return }
      self.asked = nil
      if problem == Self.silence { problem = nil }
    case .deliver:
      guard let reply = try deliveryAnswer(of: work, at: now) else { return }
      self.asked = nil
      guard let actions = queue.takeAnswer(reply.results) else {
        throw .malformed("it has \(reply.results.count) results, which is another number than that of the messages")
      }
      backOff.reset()
      problem = nil
      for action in actions { action() }
    }
  }

  /// The answer to what was delivered; nil if it has not come, or if nothing could be stored.
  private func deliveryAnswer(of work: Client, at now: Instant) throws(ClientError) -> PushInterface.Deliver.Reply? {
    do throws(ClientError) {
      return try work.nextAnswer(as: PushInterface.Deliver.Reply.self)?.parameters
    } catch {
      guard case .failed(let reply) = error, reply.name == RefreshdInterface.NotStored.name else { throw error }
      let refusal = try reply.parameters(as: RefreshdInterface.NotStored.self)
      asked = nil
      queue.takeBack(mayBeStored: false)
      problem = "cannot store pushes: \(refusal.problem)"
      retry = now + backOff.next(&chance)
      return nil
    }
  }

  private func ask(at now: Instant) throws(ClientError) {
    // Nobody is asked before it is known that this is a daemon that takes pushes.
    guard let work = connections?.work, policy != nil, asked == nil, retry == nil else { return }
    if let sources = report {
      try work.begin(PushInterface.Report.name, PushInterface.Report.Parameters(sources: sources), more: false)
      report = nil
      asked = (.report, now)
      return
    }
    let deliveries = queue.takeCall()
    guard !deliveries.isEmpty else { return }
    asked = (.deliver, now)
    try work.begin(
      PushInterface.Deliver.name, PushInterface.Deliver.Parameters(deliveries: deliveries), more: false)
  }

  private func fail(_ error: ClientError, at now: Instant) {
    // That it answers does not say that it stays: only what lasted, or took messages, begins anew.
    if let connections, policy != nil, connections.since + BackOff.stable <= now { backOff.reset() }
    close()
    problem = Self.sentence(error, socket)
    retry = now + backOff.next(&chance)
  }

  private func close() {
    connections = nil
    asked = nil
    policy = nil
    queue.takeBack(mayBeStored: true)
  }

  private static func sentence(_ error: ClientError, _ socket: SocketPath) -> String {
    switch error {
    case .unreachable: "\(error.description); \(socket.remedy)"
    case .disconnected: "cannot go on with refreshd: it has closed the connection"
    case .failed(let reply) where reply.name == RefreshdInterface.NotAllowed.name:
      "cannot push: refreshd does not allow it to user \(geteuid()); run refresh-push as the user refresh-push"
    default: error.description
    }
  }
}
