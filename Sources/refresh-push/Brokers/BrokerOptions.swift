import Glibc
import HTTP
import RefreshConfig
import Systemd

/// The options of a connection to a broker.
struct BrokerOptions: Hashable, Sendable {
  /// A user's name and password.
  struct Login: Hashable, Sendable {
    var user: String
    var password: String
  }

  /// The most unacknowledged messages (MQTT 5), and the most messages of a batch.
  ///
  /// A batch shares a commit in the daemon. Together with the size of a packet this number bounds the memory.
  static let receiveMaximum: UInt16 = 64

  /// The version that push.toml names; nil to try 5 and then 3.1.1.
  var onlyVersion: MQTTVersion?
  var host: String
  var port: UInt16
  var clientID: String
  var login: Login?
  /// The TLS files; nil for an unencrypted connection.
  var tls: RawConnection.TLS?
  /// The topic filters to subscribe to.
  var filters: [String]
  /// The beginning of the id of the present boot.
  var boot: String
  /// The time in seconds that the broker keeps the session and its messages while the bridge is disconnected (MQTT 5).
  var sessionExpiry: UInt32
  /// The seconds of silence after which the bridge sends a ping, 5 to 65,535.
  var keepAlive: UInt16
  /// The largest packet in bytes.
  var maxPacket: UInt32

  /// The largest payload in bytes that goes to the daemon, which accepts 4,096 and reports larger ones.
  var largestPayload: Int { min(Int(maxPacket), 16 << 10) }
}

/// The identity of the bridge at a broker.
enum BrokerIdentity {
  /// The application id from which brokers' machine ids derive (see `systemd-id128 machine-id --app-specific=...`).
  private static let use = "664f30f6843842368c6bd98e13dd28ba"

  /// The machine's id in topics: 32 hexadecimal digits that do not reveal its machine-id(5).
  ///
  /// Throws if the machine has no id.
  static func machine() throws(BrokerEnd) -> String {
    do throws(SystemdError) { return try MachineID.id(for: use) } catch { throw .unreachable(error.description) }
  }

  /// The beginning of the id of the present boot.
  static func boot() throws(BrokerEnd) -> String {
    do throws(SystemdError) {
      return String(try MachineID.boot().prefix(8))
    } catch {
      throw .unreachable(error.description)
    }
  }

  /// The default client id: a stable id for each machine, user and source, so that the broker finds the session.
  static func clientID(of source: String) throws(BrokerEnd) -> String {
    guard let digits = Digest.digits(16, of: "\(try machine()) \(geteuid()) \(source)".utf8) else {
      throw .unreachable("cannot connect: out of memory")
    }
    return "refreshd-\(digits)"
  }
}
