import CMosquitto
import Glibc

/// The reason why a connection to a broker ended or failed.
///
/// The texts contain the host but no secrets: no topic, user or password.
enum BrokerEnd: Error, Hashable, Sendable {
  /// The connection failed or broke.
  case unreachable(String)
  /// The broker refused the CONNECT, with a reason code of MQTT 5 or a return code of MQTT 3.1.1.
  case refused(code: Int32, by: String)
  /// The broker refused the subscription.
  case notSubscribed(code: Int32)
  /// The broker closed the connection without a reason.
  case closed(by: String)
  /// The broker closed the connection with a reason code of MQTT 5.
  case dismissed(code: Int32)
  /// The daemon did not store the messages, so they were not acknowledged.
  case notStored
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
    case .notStored: "cannot hand its messages to refreshd, which has not stored them; the broker keeps them"
    case .stopped: nil
    }
  }

  /// Whether another client with the bridge's id took over.
  ///
  /// An immediate reconnect would start an endless contest.
  var isTakeover: Bool { self == .dismissed(code: Int32(MQTT_RC_SESSION_TAKEN_OVER.rawValue)) }

  /// Whether the broker refused the protocol version.
  var isOfVersion: Bool {
    guard case .refused(let code, _) = self else { return false }
    return code == Int32(CONNACK_REFUSED_PROTOCOL_VERSION.rawValue)
      || code == Int32(MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue)
  }

  /// The reason for an error code of libmosquitto.
  ///
  /// - Parameters:
  ///   - number: errno(3) after the call; the code of getaddrinfo(3) if the lookup failed.
  ///   - logged: the library's log line about the error.
  init(_ code: Int32, errno number: Int32, logged: String?, host: String, port: UInt16) {
    let address = "\(host):\(port)"
    switch code {
    case mosquitto_no_address:
      self = .unreachable("cannot find the address of \(host): \(String(cString: gai_strerror(number)))")
    case mosquitto_connection_lost: self = .closed(by: address)
    // With TLS, libmosquitto reports a closed connection as a protocol error.
    case mosquitto_see_errno where [EPROTO, ECONNRESET, EPIPE].contains(number): self = .closed(by: address)
    case mosquitto_see_errno:
      self = .unreachable("cannot connect to \(address): \(String(cString: strerror(number)))")
    case mosquitto_tls_error:
      self = .unreachable("cannot connect to \(address) by TLS: \(Self.reason(logged)); check port, tls and ca_file")
    case mosquitto_no_answer:
      self = .unreachable("cannot hear from \(address): it was silent for longer than keep_alive")
    default:
      self = .unreachable("cannot stay connected to \(address): \(String(cString: mosquitto_strerror(code)))")
    }
  }

  /// The last part of a line such as `OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed`.
  private static func reason(_ logged: String?) -> String {
    guard let logged else { return "it does not speak TLS" }
    guard logged.hasPrefix("OpenSSL Error") else { return logged }
    return logged.split(separator: ":").last.map(String.init) ?? logged
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
