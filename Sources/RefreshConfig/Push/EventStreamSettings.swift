import RefreshEngine

/// An `[[sse]]` of push.toml: a stream of server-sent events, all of them for one app.
public struct EventStreamSettings: Hashable, Sendable {
  /// Its name.
  public var name: String
  /// Where the stream is.
  public var url: HTTPURL
  /// The app that its events are for.
  public var app: String
  /// The type of the events that are taken; those of other types are passed over.
  public var event: String
  /// A file with lines `Name: value` that are sent along, an absolute path or the bare name of a credential.
  public var headersFile: String?
  /// A file with a token or `user:password`, an absolute path or the bare name of a credential.
  public var credentialFile: String?
  /// The certificates that are trusted in the place of the system's; nil for those.
  public var caFile: String?
  /// The longest silence before it connects again; nil for any.
  public var silence: Duration?

  /// Takes the keys out of the table; nil where a mistake was found.
  init?(from keys: inout SourceSection) {
    let example = "https://example.org/events"
    let url = keys.section.takeText("url", example: example) { (text) throws(Unreadable) in try HTTPURL(text) }
    keys.require("url", "url = \"\(example)\"")
    let app = keys.section.takeText("app", example: "org.example.feed") { (text) throws(Unreadable) in
      guard AppID(text) != nil else {
        throw Unreadable(
          message: "cannot take \(quoted(text)) as the id of an app", remedy: #"write one as in "org.example.feed""#)
      }
      return text
    }
    keys.require("app", #"app = "org.example.feed""#)
    event =
      keys.section.takeText("event", example: "message") { (text) throws(Unreadable) in
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
          throw Unreadable(
            message: "cannot take this as a type of events", remedy: "write 1 to 128 bytes without control characters")
        }
        return text
      } ?? "message"
    headersFile = keys.takeSecretPath("headers_file", example: "/etc/refreshd/news.headers")
    credentialFile = keys.takeSecretPath("credential_file", example: "/etc/refreshd/news.credential")
    caFile = keys.takePath("ca_file", example: "/etc/refreshd/ca.pem")
    silence = Self.takeSilence(from: &keys.section)
    guard let name = keys.name, let url, let app else { return nil }
    (self.name, self.url, self.app) = (name, url, app)
  }

  private static func takeSilence(from section: inout Section) -> Duration? {
    let bounds = Duration.seconds(1) ... .hours(24)
    return section.takeText("silence", example: "5min") { (text) throws(Unreadable) -> Duration? in
      if text == "never" { return nil }
      let duration = try Duration(systemd: text)
      guard bounds.contains(duration) else {
        throw .outOfBounds(duration.inSystemdForm, bounds.lowerBound.inSystemdForm, bounds.upperBound.inSystemdForm)
      }
      return duration
    } ?? nil
  }
}
