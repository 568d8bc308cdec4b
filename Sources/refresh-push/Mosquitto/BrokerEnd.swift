import CMosquitto
import Glibc

/// Why a connection to a broker ended, or did not come about.
///
/// The sentences hold the host and nothing secret: no topic, no user, no password.
enum BrokerEnd: Error, Hashable, Sendable {
  /// The connection did not come about, or broke.
  case unreachable(String)
  /// The broker is there, and refuses the connect: a reason code of MQTT 5 or a return code of MQTT 3.1.1.
  case refused(code: Int32, by: String)
  /// The broker does not give the messages of the topic.
  case notSubscribed(code: Int32)
  /// The broker closed the connection, and said nothing.
  case closed(by: String)
  /// The broker closed the connection, and said why: a reason code of MQTT 5.
  case dismissed(code: Int32)
  /// The daemon did not store what came, so it was not acknowledged.
  case notStored
  /// The bridge no longer wants the connection.
  case stopped

  /// What a person is told; nil if there is nothing to tell.
  var problem: String? {
    switch self {
    case .unreachable(let sentence): sentence
    case .refused(let code, let host): Self.refusal(code, host)
    case .notSubscribed(let code): Self.denial(code)
    case .closed(let place): "cannot stay connected to \(place): it closed the connection"
    case .dismissed(let code): Self.dismissal(code)
    case .notStored: "cannot hand its messages to refreshd, which has not stored them; the broker keeps them"
    case .stopped: nil
    }
  }

  /// Whether another client came with the bridge's id: to connect at once would throw that one out, and so on for ever.
  var isTakeover: Bool { self == .dismissed(code: Int32(MQTT_RC_SESSION_TAKEN_OVER.rawValue)) }

  /// Whether the broker does not speak the version of the protocol.
  var isOfVersion: Bool {
    guard case .refused(let code, _) = self else { return false }
    return code == Int32(CONNACK_REFUSED_PROTOCOL_VERSION.rawValue)
      || code == Int32(MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue)
  }

  /// What libmosquitto returned.
  ///
  /// - Parameters:
  ///   - number: errno(3) after the call; the code of getaddrinfo(3) if the name was not found.
  ///   - complaint: what the library logged of it.
  init(_ code: Int32, errno number: Int32, complaint: String?, host: String, port: UInt16) {
    let place = "\(host):\(port)"
    switch code {
    case mosquitto_no_address:
      self = .unreachable("cannot find the address of \(host): \(String(cString: gai_strerror(number)))")
    case mosquitto_connection_lost: self = .closed(by: place)
    // With TLS, libmosquitto tells the end of the connection as an error of the protocol.
    case mosquitto_see_errno where [EPROTO, ECONNRESET, EPIPE].contains(number): self = .closed(by: place)
    case mosquitto_see_errno:
      self = .unreachable("cannot connect to \(place): \(String(cString: strerror(number)))")
    case mosquitto_tls_error:
      self = .unreachable("cannot connect to \(place) by TLS: \(Self.reason(complaint)); check port, tls and ca_file")
    case mosquitto_no_answer:
      self = .unreachable("cannot hear from \(place): it was silent for longer than keep_alive")
    default:
      self = .unreachable("cannot stay connected to \(place): \(String(cString: mosquitto_strerror(code)))")
    }
  }

  /// The last words of a line such as `OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed`.
  private static func reason(_ complaint: String?) -> String {
    guard let complaint else { return "it does not speak TLS" }
    guard complaint.hasPrefix("OpenSSL Error") else { return complaint }
    return complaint.split(separator: ":").last.map(String.init) ?? complaint
  }

  private static func refusal(_ code: Int32, _ host: String) -> String {
    switch code {
    case 0x04, 0x86: "cannot connect to \(host): it refuses the user or the password; check credential_file"
    case 0x05, 0x87: "cannot connect to \(host): it does not let this user in; check credential_file and its own rules"
    case 0x02, 0x85: "cannot connect to \(host): it refuses the client's id; set client_id"
    case 0x03, 0x88: "cannot connect to \(host): it says that it is not available"
    case 0x01, 0x84: "cannot connect to \(host): it speaks neither MQTT 5 nor MQTT 3.1.1"
    default: "cannot connect to \(host): it refuses: \(words(code))"
    }
  }

  private static func denial(_ code: Int32) -> String {
    code < 0x80
      ? "cannot get the messages of topic safely: the broker grants quality of service \(code), and 1 is needed"
      : "cannot get the messages of topic: the broker refuses (\(words(code))); check topic, and the broker's own rules"
  }

  private static func dismissal(_ code: Int32) -> String {
    code == Int32(MQTT_RC_SESSION_TAKEN_OVER.rawValue)
      ? "cannot stay connected: another client came with this client's id; give each its own client_id"
      : "cannot stay connected: the broker closed the connection (\(words(code)))"
  }

  private static func words(_ code: Int32) -> String { String(cString: mosquitto_reason_string(code)) }
}
