import RefreshConfig

/// The topic of the apps' messages, with the app's id as one of its levels.
struct TopicTemplate: Hashable, Sendable {
  /// The levels; nil for the level with the app's id.
  private let levels: [String?]

  /// Reads a template such as `refreshd/{machine}/{app}`.
  ///
  /// RefreshConfig has checked that `{app}` is one of its levels.
  init(_ text: String, machine: String) {
    levels = text.split(separator: "/", omittingEmptySubsequences: false).map {
      $0 == BrokerSettings.app ? nil : BrokerSettings.replace(BrokerSettings.machine, in: $0, with: machine)
    }
  }

  /// The filter that matches the topics of all apps.
  var filter: String { levels.map { $0 ?? "+" }.joined(separator: "/") }

  /// The app of a topic; nil if the topic does not match the template.
  func app(of topic: String) -> String? {
    let words = topic.split(separator: "/", omittingEmptySubsequences: false)
    guard words.count == levels.count else { return nil }
    var app: String?
    for (word, level) in zip(words, levels) {
      if level == nil {
        app = String(word)
      } else if level != String(word) {
        return nil
      }
    }
    return app
  }
}
