import Glibc
import HTTP

/// The reason why a connection to a broker ended or failed.
///
/// The texts contain the host but no secrets: no topic, user or password.
enum BrokerEnd: Error, Hashable, Sendable {
  /// The connection failed or broke.
  case unreachable(String)
  /// The broker refused the CONNECT, with a reason code of MQTT 5 or a return code of MQTT 3.1.1.
  case refused(code: UInt8, by: String)
  /// The broker refused the subscription.
  case notSubscribed(code: UInt8)
  /// The broker closed the connection without a reason.
  case closed(by: String)
  /// The broker closed the connection with a reason code of MQTT 5.
  case dismissed(code: UInt8)
  /// The broker sent what MQTT does not allow, or more than the bridge accepts.
  case broken(String, by: String)
  /// The broker did not answer the CONNECT.
  case silent(by: String)
  /// The daemon did not store the messages, so they were not acknowledged.
  case notStored
  /// The connection ended before the daemon had stored the messages, so they were not acknowledged.
  case interrupted(by: String)
  /// The bridge no longer wants the connection.
  case stopped

  /// The problem for a person; nil for none.
  var problem: String? {
    switch self {
    case .unreachable(let sentence): sentence
    case .refused(let code, let host): Self.refusal(code, host)
    case .notSubscribed(let code): Self.denial(code)
    case .closed(let address): "cannot stay connected to \(address): it closed the connection"
    case .dismissed(let code): Self.dismissal(code)
    case .broken(let what, let address): "cannot stay connected to \(address): \(what); check the broker"
    case .silent(let address): "cannot connect to \(address): it does not answer; check port and tls"
    case .notStored: "cannot hand its messages to refreshd, which has not stored them; the broker keeps them"
    case .interrupted(let address):
      "cannot stay connected to \(address): the connection ended before refreshd had stored its messages; "
        + "the broker sends them again"
    case .stopped: nil
    }
  }

  /// Whether another client with the bridge's id has taken over the session.
  ///
  /// An immediate reconnect would start an endless contest.
  var isTakeover: Bool { self == .dismissed(code: MQTTReason.sessionTakenOver) }

  /// Whether the broker refused the protocol version.
  var isOfVersion: Bool {
    guard case .refused(let code, _) = self else { return false }
    return code == 0x01 || code == 0x84
  }

  /// The reason for a failure of the connection.
  init(_ failure: RawConnection.Failure, host: String, port: UInt16) {
    let address = "\(host):\(port)"
    switch failure {
    case .noAddress: self = .unreachable("cannot find the address of \(host)")
    case .refused(let number):
      self = .unreachable("cannot connect to \(address): \(String(cString: strerror(number)))")
    case .silent: self = .silent(by: address)
    case .tls(let why):
      self = .unreachable("cannot connect to \(address) by TLS: \(why); check port, tls and ca_file")
    case .closed: self = .closed(by: address)
    case .other(let why): self = .unreachable("cannot connect to \(address): \(why)")
    }
  }

  private static func refusal(_ code: UInt8, _ host: String) -> String {
    switch code {
    case 0x04, 0x86: "cannot connect to \(host): it refuses the user or the password; check credential_file"
    case 0x05, 0x87:
      "cannot connect to \(host): it does not admit this user; check credential_file and the broker's rules"
    case 0x02, 0x85: "cannot connect to \(host): it refuses the client's id; set client_id"
    case 0x03, 0x88: "cannot connect to \(host): it says that it is not available"
    case 0x01, 0x84: "cannot connect to \(host): it speaks neither MQTT 5 nor MQTT 3.1.1"
    default: "cannot connect to \(host): it refuses: \(MQTTReason.words(code))"
    }
  }

  /// The problem with the refusal of a subscription.
  ///
  /// `whose` says whose messages do not come.
  static func denial(_ code: UInt8, of whose: String = "its topics") -> String {
    code < 0x80
      ? "cannot get the messages of \(whose) reliably: the broker grants quality of service \(code), but 1 is needed"
      : "cannot get the messages of \(whose): the broker refuses (\(MQTTReason.words(code))); check topic and topics, and the broker's rules"
  }

  private static func dismissal(_ code: UInt8) -> String {
    code == MQTTReason.sessionTakenOver
      ? "cannot stay connected: another client connected with this client_id; give each client its own"
      : "cannot stay connected: the broker closed the connection (\(MQTTReason.words(code)))"
  }
}

/// The reason codes of MQTT 5 in words (section 2.4).
enum MQTTReason {
  static let sessionTakenOver: UInt8 = 0x8e
  static let packetNumberInUse: UInt8 = 0x91

  /// The words for a code; its number if the code is unknown.
  static func words(_ code: UInt8) -> String {
    switch code {
    case 0x80: "unspecified error"
    case 0x81: "malformed packet"
    case 0x82: "protocol error"
    case 0x83: "implementation specific error"
    case 0x87: "not authorized"
    case 0x89: "server busy"
    case 0x8a: "banned"
    case 0x8b: "server shutting down"
    case 0x8c: "bad authentication method"
    case 0x8d: "keep alive timeout"
    case sessionTakenOver: "session taken over"
    case 0x8f: "topic filter invalid"
    case 0x90: "topic name invalid"
    case packetNumberInUse: "packet identifier in use"
    case 0x93: "receive maximum exceeded"
    case 0x95: "packet too large"
    case 0x96: "message rate too high"
    case 0x97: "quota exceeded"
    case 0x98: "administrative action"
    case 0x9c: "use another server"
    case 0x9d: "server moved"
    case 0x9f: "connection rate exceeded"
    case 0xa0: "maximum connect time"
    default: "reason code \(code)"
    }
  }
}
