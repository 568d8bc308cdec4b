import RefreshEngine

/// A `[[ntfy]]` of push.toml: a server of ntfy, and the topics on it.
public struct NtfySettings: Hashable, Sendable {
  /// The most topics of one server, all on one connection.
  static let mostTopics = 100

  /// Its name.
  public var name: String
  /// The server, without a topic.
  public var url: HTTPURL
  /// The app of each topic; topics are secrets.
  public var topics: [String: String]
  /// A file with a token or `user:password`, an absolute path or the bare name of a credential; nil for none.
  public var credentialFile: String?
  /// The certificates that are trusted in the place of the system's; nil for those.
  public var caFile: String?
  /// The longest silence before it connects again; the server says something every 45 s, unless it is told otherwise.
  public var silence: Duration

  /// Takes the keys out of the table; nil where a mistake was found.
  init?(from keys: inout SourceSection) {
    let example = "https://ntfy.example.org"
    let url = keys.section.takeText("url", example: example) { (text) throws(Unreadable) in try Self.server(text) }
    keys.require("url", "url = \"\(example)\"")
    let topics = Self.takeTopics(from: &keys)
    credentialFile = keys.takeSecretPath("credential_file", example: "/etc/refreshd/ntfy.credential")
    caFile = keys.takePath("ca_file", example: "/etc/refreshd/ca.pem")
    silence =
      keys.section.takeDuration("silence", within: .seconds(1) ... .hours(24), example: "100s") ?? .seconds(100)
    guard let name = keys.name, let url, let topics else { return nil }
    (self.name, self.url, self.topics) = (name, url, topics)
  }

  private static func server(_ text: String) throws(Unreadable) -> HTTPURL {
    let url = try HTTPURL(text)
    guard !text.contains("?"), !text.contains("#"), !url.hasLogin else {
      throw Unreadable(
        message: "cannot use the URL of a server with a query, a fragment or a user in it",
        remedy: "write the server alone, and a user or a token into credential_file")
    }
    return url
  }

  /// The topics by their apps, as they are written, with the app of each topic.
  private static func takeTopics(from keys: inout SourceSection) -> [String: String]? {
    let example = #"topics = { "org.example.mail" = "upAbCdEfGhIjKl" }"#
    keys.require("topics", example)
    guard var table = keys.section.takeTable("topics", example: example) else { return nil }
    var apps: [String: String] = [:]
    for app in table.keys {
      let topic = table.takeText(app, example: "upAbCdEfGhIjKl") { (text) throws(Unreadable) in
        guard AppID(app) != nil else {
          throw Unreadable(
            message: "cannot take \(quoted(app)) as the id of an app", remedy: #"write one as in "org.example.mail""#)
        }
        // Nothing of a topic is shown: who knows it can publish.
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(isOfTopic) else {
          throw Unreadable(
            message: "cannot use this as a topic of ntfy", remedy: "write 1 to 64 letters, digits, _ and -")
        }
        guard apps[text] == nil else {
          throw Unreadable(message: "cannot give two apps the same topic", remedy: "give each app a topic of its own")
        }
        return text
      }
      if let topic { apps[topic] = app }
    }
    if table.keys.isEmpty || table.keys.count > mostTopics {
      keys.section.refuse(
        "topics",
        Unreadable(message: "cannot listen to \(table.keys.count) topics", remedy: "write 1 to \(mostTopics)"))
    }
    keys.section.adopt(table)
    return apps
  }

  private static func isOfTopic(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
