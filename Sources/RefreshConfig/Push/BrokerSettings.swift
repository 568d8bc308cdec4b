import RefreshEngine

/// An `[[mqtt]]` of push.toml: a broker of MQTT.
public struct BrokerSettings: Hashable, Sendable {
  /// What stands for the machine in ``topic``.
  public static let machine = "{machine}"
  /// What stands for the app in ``topic``.
  public static let app = "{app}"

  /// Its name.
  public var name: String
  /// The host, a name or an address.
  public var host: String
  /// The port.
  public var port: UInt16
  /// Whether it is spoken to over TLS.
  public var usesTLS: Bool
  /// The certificates that are trusted in the place of the system's; nil for those.
  public var caFile: String?
  /// The client's certificate; nil for none.
  public var certificateFile: String?
  /// The private key of ``certificateFile``, an absolute path or the bare name of a credential.
  public var keyFile: String?
  /// A file with `user:password`, an absolute path or the bare name of a credential; nil for none.
  public var credentialFile: String?
  /// The topic of the messages for an app, with ``app`` as one of its levels, and ``machine`` where the machine's id goes.
  public var topic: String
  /// The id by which the broker knows the client again; nil for one of the machine and the user.
  public var clientID: String?
  /// How long the broker keeps messages while the client is away.
  public var sessionExpiry: Duration
  /// How long nothing may be heard of the broker.
  public var keepAlive: Duration
  /// The most bytes of a packet that the broker may send.
  public var maxPacket: Int64

  /// Takes the keys out of the table; nil where a mistake was found.
  init?(from keys: inout SourceSection) {
    let host = keys.section.takeText("host", example: "broker.example.org", Self.checkedHost)
    keys.require("host", #"host = "broker.example.org""#)
    usesTLS = keys.section.takeBoolean("tls") ?? true
    port = UInt16(keys.section.takeInteger("port", within: 1...65535, example: 8883) ?? (usesTLS ? 8883 : 1883))
    caFile = keys.takePath("ca_file", example: "/etc/refreshd/ca.pem")
    certificateFile = keys.takePath("certificate_file", example: "/etc/refreshd/client.pem")
    keyFile = keys.takeSecretPath("key_file", example: "/etc/refreshd/client.key")
    credentialFile = keys.takeSecretPath("credential_file", example: "/etc/refreshd/broker.credential")
    let topic = keys.section.takeText("topic", example: "refreshd/{machine}/{app}", Self.checkedTopic)
    self.topic = topic ?? "refreshd/{machine}/{app}"
    clientID = keys.section.takeText("client_id", example: "refreshd-kitchen", Self.checkedClientID)
    sessionExpiry =
      keys.section.takeDuration("session_expiry", within: .seconds(1) ... .hours(24 * 365), example: "7d")
      ?? .hours(168)
    keepAlive =
      keys.section.takeDuration("keep_alive", within: .seconds(5) ... .seconds(65535), example: "60s") ?? .seconds(60)
    maxPacket = keys.section.takeText("max_packet", example: "8K", Self.checkedPacket) ?? 8192
    Self.refuseWrongCertificates(in: &keys.section, usesTLS: usesTLS)
    guard let name = keys.name, let host else { return nil }
    (self.name, self.host) = (name, host)
  }

  private static func refuseWrongCertificates(in section: inout Section, usesTLS: Bool) {
    for key in ["ca_file", "certificate_file", "key_file"] where !usesTLS && section.isWritten(key) {
      section.refuse(
        key, Unreadable(message: "cannot use certificates without TLS", remedy: "remove the key, or tls = false"))
    }
    for (key, other) in [("certificate_file", "key_file"), ("key_file", "certificate_file")]
    where section.isWritten(key) && !section.isWritten(other) {
      section.refuse(
        key, Unreadable(message: "cannot use \(key) without \(other)", remedy: "write both, or neither"))
    }
  }

  private static func checkedHost(_ text: String) throws(Unreadable) -> String {
    guard (1...255).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !"/?#@\\[]\"".utf8.contains($0) })
    else {
      throw Unreadable(
        message: "cannot take \(quoted(text)) as a host", remedy: #"write a name or an address, such as "10.0.0.7""#)
    }
    return text
  }

  private static func checkedTopic(_ text: String) throws(Unreadable) -> String {
    let levels = text.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.count(where: { $0 == app }) == 1,
      text.split(separator: app, omittingEmptySubsequences: false).count == 2
    else {
      throw Unreadable(
        message: "cannot tell the app of a message by this topic",
        remedy: "write {app} once, and as a whole part, as in \"refreshd/{machine}/{app}\"")
    }
    guard text.utf8.count <= 255, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f && !"+#".utf8.contains($0) }) else {
      throw Unreadable(
        message: "cannot listen to this topic", remedy: "write 255 bytes at most, without + and #")
    }
    guard !text.replacing(machine, with: "").replacing(app, with: "").contains(where: { "{}".contains($0) }) else {
      throw Unreadable(
        message: "cannot tell what stands in braces in this topic", remedy: "write {machine} and {app}, and no others")
    }
    return text
  }

  private static func checkedClientID(_ text: String) throws(Unreadable) -> String {
    guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw Unreadable(
        message: "cannot use this as the id of a client", remedy: "write 1 to 128 letters, digits and signs of ASCII")
    }
    return text
  }

  private static func checkedPacket(_ text: String) throws(Unreadable) -> Int64 {
    let bytes = try ByteSizes.bytes(text)
    // A payload has 4,096 at most, and what is handed to the daemon must stay far below the bound of a call.
    guard (1 << 10...64 << 10).contains(bytes) else { throw .outOfBounds(text, "1K", "64K") }
    return bytes
  }
}
