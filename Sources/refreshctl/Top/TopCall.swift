import RefreshAPI
import Varlink

/// A reply of the daemon for the live screen.
enum TopAnswer {
  case event(Wire.WatchEvent)
  case list(ManagerInterface.List.Reply)
  case status(Wire.DaemonStatus)
  case why(Wire.Explanation)
  /// The effect of an action, in one line.
  case said(String)
}

/// A pending call of the live screen.
struct TopCall {
  /// The kind of the call; at most one of each kind is pending.
  enum Kind: Hashable {
    case watch, list, status, why, action
  }

  let kind: Kind
  let descriptor: Int32
  private let nextAnswer: () throws(Failure) -> TopAnswer?

  /// Reads the next reply; nil if none has arrived.
  func next() throws(Failure) -> TopAnswer? { try nextAnswer() }

  /// Calls a method on a new connection.
  private init<Method: InterfaceMethod>(
    _ kind: Kind, _ method: Method.Type, _ parameters: Method.Parameters, _ options: SocketOptions,
    more: Bool = false, _ answer: @escaping (Method.Reply) -> TopAnswer
  ) throws(Failure) {
    let daemon = try DaemonClient(socket: options.socket)
    try daemon.begin(method, parameters, more: more)
    self.kind = kind
    descriptor = daemon.descriptor
    nextAnswer = { () throws(Failure) in try daemon.nextAnswer(of: method).map(answer) }
  }

  static func watch(_ options: SocketOptions) throws(Failure) -> TopCall {
    try TopCall(.watch, ManagerInterface.Watch.self, .init(), options, more: true) { .event($0.event) }
  }

  static func list(_ options: SocketOptions) throws(Failure) -> TopCall {
    try TopCall(.list, ManagerInterface.List.self, .init(), options) { .list($0) }
  }

  static func status(_ options: SocketOptions) throws(Failure) -> TopCall {
    try TopCall(.status, ManagerInterface.Status.self, .init(), options) { .status($0.status) }
  }

  static func why(_ app: String, _ options: SocketOptions) throws(Failure) -> TopCall {
    try TopCall(.why, ManagerInterface.Why.self, .init(app: app), options) { .why($0.why) }
  }

  /// Begins the call for a request that changes something; nil for any other request.
  static func action(_ request: TopRequest, on screen: Screen, _ options: SocketOptions) throws(Failure) -> TopCall? {
    switch request {
    case .quit, .redraw, .why: return nil
    case .run(let app):
      // The refresh survives the connection, so the first step is enough.
      return try TopCall(.action, ManagerInterface.Run.self, .init(app: app), options, more: true) {
        .said($0.event.words(about: app))
      }
    case .disable(let app):
      return try TopCall(.action, ManagerInterface.Disable.self, .init(apps: [app]), options) { _ in
        .said("\(printable(app)) is disabled; d enables it.")
      }
    case .enable(let app):
      return try TopCall(.action, ManagerInterface.Enable.self, .init(apps: [app]), options) { _ in
        .said("\(printable(app)) is enabled.")
      }
    case .pause:
      let until = CalendarTime.endOfDay(screen.now)
      return try TopCall(.action, ManagerInterface.Pause.self, .init(untilMicroseconds: until), options) {
        .said(screen.sentence(ofTimed: $0.pause) + ($0.pause == nil ? "" : " p resumes."))
      }
    case .resume:
      return try TopCall(.action, ManagerInterface.Resume.self, .init(), options) { _ in .said("Nothing is paused.") }
    case .signal(let app, let signal):
      return try TopCall(.action, AppInterface.Signal.self, .init(app: app, signal: signal), options) {
        .said($0.phase.sentence(of: app, after: signal))
      }
    }
  }
}
