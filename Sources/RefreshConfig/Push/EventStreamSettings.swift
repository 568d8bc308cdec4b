import RefreshEngine

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
      else: { _ in "cannot take this as a type of events" }, remedy: "write 1 to 128 bytes without control characters")
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
