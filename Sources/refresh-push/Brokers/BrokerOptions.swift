import HTTP
import RefreshConfig

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
