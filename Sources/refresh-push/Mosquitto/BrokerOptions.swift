/// How to connect to a broker.
struct BrokerOptions: Hashable, Sendable {
  /// The versions of the protocol.
  enum Version: Hashable, Sendable {
    case v5
    /// MQTT 3.1.1, for brokers that refuse 5.
    case v311
  }

  /// A user's name and password.
  struct Login: Hashable, Sendable {
    var user: String
    var password: String
  }

  /// Files of the connection's encryption, all of them PEM.
  struct TLS: Hashable, Sendable {
    /// The authorities that may vouch for the broker; nil for the system's.
    var caFile: String?
    /// The bridge's own certificate, and its private key, which has no passphrase.
    var certificateFile: String?
    var keyFile: String?
  }

  /// How many messages the broker may send before the first of them is acknowledged (MQTT 5), and how many are handed
  /// to the daemon at once: enough to share a commit, and with the size of a packet a bound on memory.
  static let receiveMaximum: UInt16 = 64

  var host: String
  var port: UInt16
  var clientID: String
  var login: Login?
  /// Nil for a connection that anybody can read.
  var tls: TLS?
  /// The topic filter to subscribe to.
  var filter: String
  /// How long the broker keeps the session and what comes for it while the bridge is away, seconds (MQTT 5).
  var sessionExpiry: UInt32
  /// After how many seconds of silence the bridge asks whether the broker is there, 5 to 65,535.
  var keepAlive: UInt16
  /// The largest packet that is taken, bytes.
  var maxPacket: UInt32

  /// The largest payload that is taken, bytes: refreshd takes 4,096, and says so of what has not many more.
  var largestPayload: Int { min(Int(maxPacket), 16 << 10) }
}
