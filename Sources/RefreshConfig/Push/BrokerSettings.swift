import RefreshEngine

/// The versions of MQTT.
public enum MQTTVersion: Hashable, Sendable {
  /// MQTT 5.
  case v5
  /// MQTT 3.1.1, for brokers that refuse version 5.
  case v311
}

/// An `[[mqtt]]` of push.toml: an MQTT broker.
public struct BrokerSettings: Hashable, Sendable {
  /// The placeholder of the machine in ``topic``.
  public static let machine = "{machine}"
  /// The placeholder of the app in ``topic``.
  public static let app = "{app}"

  /// The name of the source.
  public var name: String
  /// The host, a name or an address.
  public var host: String
  /// The port.
  public var port: UInt16
  /// The version; nil for 5, or 3.1.1 with a broker that refuses 5.
  public var version: MQTTVersion?
  /// Whether the connection uses TLS.
  public var usesTLS: Bool
  /// A file of trusted certificates; nil for the system's.
  public var caFile: String?
  /// The client's certificate; nil for none.
  public var certificateFile: String?
  /// The private key of ``certificateFile``, an absolute path or the name of a credential.
  public var keyFile: String?
  /// A file with `user:password`, an absolute path or the name of a credential; nil for none.
  public var credentialFile: String?
  /// The topic of an app's messages, with ``app`` as one of its levels and ``machine`` for the machine's id; nil if
  /// there are only ``topics``.
  public var topic: String?
  /// The app of each topic that is written out, with ``machine`` for the machine's id.
  public var topics: [String: String]
  /// The client id; nil for one that is made from the machine and the user.
  public var clientID: String?
  /// How long the broker keeps messages while the client is disconnected.
  public var sessionExpiry: Duration
  /// The longest silence of the broker.
  public var keepAlive: Duration
  /// The most bytes of a packet that the broker may send.
  public var maxPacket: Int64

  /// Reads the keys of the table; nil if any is refused.
  init?(from keys: inout SourceSection) {
    let host = keys.section.read("host", Self.host)
    keys.require("host", #"host = "broker.example.org""#)
    version = keys.section.read("version", Self.version)
    usesTLS = keys.section.read("tls", .boolean) ?? true
    port = keys.section.read("port", .integer(1...65535, example: 8883)) ?? (usesTLS ? 8883 : 1883)
    caFile = keys.readPath("ca_file", example: "/etc/refreshd/ca.pem")
    certificateFile = keys.readPath("certificate_file", example: "/etc/refreshd/client.pem")
    keyFile = keys.readSecretPath("key_file", example: "/etc/refreshd/client.key")
    credentialFile = keys.readSecretPath("credential_file", example: "/etc/refreshd/broker.credential")
    let standardTopic = "refreshd/{machine}/{app}"
    let written = keys.section.read("topic", .text(standardTopic, Self.checkedTopic))
    let table = keys.readTopics(example: "refreshd/{machine}/mail", most: NtfySettings.mostTopics, Self.check)
    topics = table ?? [:]
    topic = written ?? (table == nil ? standardTopic : nil)
    if let topic, let twice = topics.keys.first(where: { Self.isMatch($0, of: topic) }) {
      keys.section.refuse(
        "topics", "cannot listen to a topic twice: topic already covers \(topics[twice] ?? "")",
        remedy: "remove topic, or give the app another topic")
    }
    clientID = keys.section.read("client_id", Self.clientID)
    let expiry = ValueType<Duration>.duration(.seconds(1) ... .hours(24 * 365), example: "7d")
    sessionExpiry = keys.section.read("session_expiry", expiry) ?? .hours(168)
    keepAlive =
      keys.section.read("keep_alive", .duration(.seconds(5) ... .seconds(65535), example: "60s")) ?? .seconds(60)
    maxPacket = keys.section.read("max_packet", .text("8K", Self.checkedPacket)) ?? 8192
    Self.refuseWrongCertificates(in: &keys.section, usesTLS: usesTLS)
    guard let name = keys.name, let host else { return nil }
    (self.name, self.host) = (name, host)
  }

  private static func refuseWrongCertificates(in section: inout Section, usesTLS: Bool) {
    for key in ["ca_file", "certificate_file", "key_file"] where !usesTLS && section.isWritten(key) {
      section.refuse(key, "cannot use certificates without TLS", remedy: "remove the key, or tls = false")
    }
    for (key, other) in [("certificate_file", "key_file"), ("key_file", "certificate_file")]
    where section.isWritten(key) && !section.isWritten(other) {
      section.refuse(key, "cannot use \(key) without \(other)", remedy: "write both, or neither")
    }
  }

  private static var version: ValueType<MQTTVersion> {
    .text("3.1.1") { (text) throws(Unreadable) in
      switch text {
      case "5": .v5
      case "3.1.1": .v311
      default: throw Unreadable("cannot use MQTT version \(quoted(text))", remedy: "write \"5\" or \"3.1.1\"")
      }
    }
  }

  private static var host: ValueType<String> {
    .text(
      "broker.example.org",
      where: { text in
        (1...255).contains(text.utf8.count)
          && text.utf8.allSatisfy { $0.isVisible && !"/?#@\\[]\"".utf8.contains($0) }
          // An IPv6 address has at least two colons.
          && text.utf8.count(where: { $0 == UInt8(ascii: ":") }) != 1
      }, else: { "cannot use \(quoted($0)) as a host" },
      remedy: #"write a name or an address, such as "10.0.0.7", and the port as port = 1883"#)
  }

  private static var clientID: ValueType<String> {
    .text(
      "refreshd-kitchen", where: { (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isVisible) },
      else: { _ in "cannot use this as a client id" },
      remedy: "use 1 to 128 visible ASCII characters")
  }

  /// Replaces a placeholder in a text.
  ///
  /// The standard library's `replacing` would link its engine of regular expressions into the programs, 1.3 MB.
  public static func replace(_ placeholder: String, in text: some StringProtocol, with value: String) -> String {
    var filled = ""
    var rest = text[...]
    while !rest.isEmpty {
      if rest.hasPrefix(placeholder) {
        filled += value
        rest = rest.dropFirst(placeholder.count)
      } else {
        filled.append(rest.removeFirst())
      }
    }
    return filled
  }

  private static func checkedTopic(_ text: String) throws(Unreadable) -> String {
    let levels = text.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.first != "$share" else {
      throw Unreadable(
        "cannot listen to this topic: a shared subscription would give some messages to other clients",
        remedy: "leave out $share and the group")
    }
    guard levels.count(where: { $0 == app }) == 1,
      text.count - replace(app, in: text, with: "").count == app.count
    else {
      throw Unreadable(
        "cannot find the app of a message in this topic",
        remedy: "write {app} once, between slashes, as in \"refreshd/{machine}/{app}\"")
    }
    guard isPlain(text) else {
      throw Unreadable(
        "cannot listen to this topic", remedy: "write 255 bytes at most, without + and #")
    }
    let plain = replace(machine, in: replace(app, in: text, with: ""), with: "")
    guard !plain.contains(where: { "{}".contains($0) }) else {
      throw Unreadable(
        "unknown word in braces in this topic", remedy: "use only {machine} and {app}")
    }
    return text
  }

  /// Refuses a text that does not name the topic of a single app.
  private static func check(_ topic: String) throws(Unreadable) {
    let plain = replace(machine, in: topic, with: "")
    guard !topic.isEmpty, isPlain(topic), !plain.contains(where: { "{}".contains($0) }), !topic.hasPrefix("$share/")
    else {
      throw Unreadable(
        "cannot listen to this topic",
        remedy: "write 1 to 255 bytes, without +, #, $share or braces other than {machine}")
    }
  }

  private static func isPlain(_ topic: String) -> Bool {
    topic.utf8.count <= 255 && topic.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && !"+#".utf8.contains($0) }
  }

  /// Whether a topic matches the template, so that a broker might send its messages twice.
  private static func isMatch(_ topic: String, of template: String) -> Bool {
    let levels = template.split(separator: "/", omittingEmptySubsequences: false)
    let words = topic.split(separator: "/", omittingEmptySubsequences: false)
    return levels.count == words.count && zip(levels, words).allSatisfy { $0 == app || $0 == $1 }
  }

  private static func checkedPacket(_ text: String) throws(Unreadable) -> Int64 {
    let bytes = try ByteSizes.bytes(text)
    // refreshd accepts payloads of up to 4,096 bytes, and a call to the daemon has a bound on its size.
    guard (1 << 10...64 << 10).contains(bytes) else { throw .outOfBounds(text, "1K", "64K") }
    return bytes
  }
}
