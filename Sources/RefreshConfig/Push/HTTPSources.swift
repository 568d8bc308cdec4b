import RefreshEngine

/// An `[[ntfy]]` of push.toml: an ntfy server, and its topics.
public struct NtfySettings: Hashable, Sendable {
  /// The most topics of one server; all of them share one connection.
  static let mostTopics = 100

  /// The name of the source.
  public var name: String
  /// The server, without a topic.
  public var url: HTTPURL
  /// The app of each topic; topics are secrets.
  public var topics: [String: String]
  /// A file with a token or `user:password`, an absolute path or the name of a credential; nil for none.
  public var credentialFile: String?
  /// A file of trusted certificates; nil for the system's.
  public var caFile: String?
  /// The longest silence before the bridge reconnects; by default a server sends something every 45 s.
  public var silence: Duration

  /// Reads the keys of the table; nil if any is refused.
  init?(from keys: inout SourceSection) {
    let example = "https://ntfy.example.org"
    let url = keys.section.read("url", .text(example, Self.server))
    keys.require("url", "url = \"\(example)\"")
    keys.require("topics", #"topics = { "org.example.mail" = "upAbCdEfGhIjKl" }"#)
    let topics = keys.readTopics(example: "upAbCdEfGhIjKl", most: Self.mostTopics, Self.check)
    credentialFile = keys.readSecretPath("credential_file", example: "/etc/refreshd/ntfy.credential")
    caFile = keys.readPath("ca_file", example: "/etc/refreshd/ca.pem")
    silence =
      keys.section.read("silence", .duration(.seconds(1) ... .hours(24), example: "100s")) ?? .seconds(100)
    guard let name = keys.name, let url, let topics else { return nil }
    (self.name, self.url, self.topics) = (name, url, topics)
  }

  private static func server(_ text: String) throws(Unreadable) -> HTTPURL {
    let url = try HTTPURL(text)
    guard !text.contains("?"), !text.contains("#"), !url.hasLogin else {
      throw Unreadable(
        "cannot use a query, a fragment or a user in the URL of a server",
        remedy: "write only the server, and put a user or token in credential_file")
    }
    return url
  }

  /// Refuses a text that ntfy does not accept as a topic.
  ///
  /// The message does not show the topic, because anybody who knows it can publish.
  private static func check(_ topic: String) throws(Unreadable) {
    guard (1...64).contains(topic.utf8.count),
      topic.utf8.allSatisfy({ $0.isLetterOrDigit || "-_".utf8.contains($0) })
    else {
      throw Unreadable("cannot use this as an ntfy topic", remedy: "write 1 to 64 letters, digits, _ and -")
    }
  }
}

/// An `[[sse]]` of push.toml: a stream of server-sent events for one app.
public struct EventStreamSettings: Hashable, Sendable {
  /// The name of the source.
  public var name: String
  /// The URL of the stream.
  public var url: HTTPURL
  /// The app that receives the events.
  public var app: String
  /// The type of the events that become pushes; events of other types are ignored.
  public var event: String
  /// A file with header fields, one line `Name: value` each, an absolute path or the name of a credential.
  public var headersFile: String?
  /// A file with a token or `user:password`, an absolute path or the name of a credential.
  public var credentialFile: String?
  /// A file of trusted certificates; nil for the system's.
  public var caFile: String?
  /// The longest silence before the bridge reconnects; nil for no bound.
  public var silence: Duration?

  /// Reads the keys of the table; nil if any is refused.
  init?(from keys: inout SourceSection) {
    let example = "https://example.org/events"
    let url = keys.section.read("url", .text(example, HTTPURL.init(_:)))
    keys.require("url", "url = \"\(example)\"")
    let appType = ValueType<String>.text("org.example.feed") { (text) throws(Unreadable) in
      guard AppID(text) != nil else { throw .noAppID(text, example: "org.example.feed") }
      return text
    }
    let app = keys.section.read("app", appType)
    keys.require("app", #"app = "org.example.feed""#)
    let eventType = ValueType<String>.text(
      "message", where: { (1...128).contains($0.utf8.count) && !$0.utf8.contains(where: \.isControl) },
      else: { _ in "cannot use this as an event type" }, remedy: "write 1 to 128 bytes without control characters")
    event = keys.section.read("event", eventType) ?? "message"
    headersFile = keys.readSecretPath("headers_file", example: "/etc/refreshd/news.headers")
    credentialFile = keys.readSecretPath("credential_file", example: "/etc/refreshd/news.credential")
    caFile = keys.readPath("ca_file", example: "/etc/refreshd/ca.pem")
    let silenceType = ValueType<Duration>.duration(.seconds(1) ... .hours(24), example: "5min")
    silence = keys.section.read("silence", .optional(silenceType, none: "never")) ?? nil
    guard let name = keys.name, let url, let app else { return nil }
    (self.name, self.url, self.app) = (name, url, app)
  }
}
