/// Where a broker has the messages of the apps: a topic with the app's id as one of its levels.
struct TopicTemplate: Hashable, Sendable {
  /// The levels; nil for the one with the app's id.
  private let levels: [String?]

  /// Reads a template such as `refreshd/{machine}/{app}`.
  ///
  /// Nil unless `{app}` is exactly one whole level of it, and when it has a wildcard.
  init?(_ text: String, machine: String) {
    levels = text.split(separator: "/", omittingEmptySubsequences: false).map {
      $0 == "{app}" ? nil : Self.fill($0, "{machine}", with: machine)
    }
    let words = levels.compactMap { $0 }
    guard levels.count - words.count == 1,
      words.allSatisfy({ !$0.contains { "+#{}\0".contains($0) } }), filter.utf8.count <= 65_535
    else { return nil }
  }

  /// The filter that matches the topics of all apps.
  var filter: String { levels.map { $0 ?? "+" }.joined(separator: "/") }

  /// The app that a message of this topic is for; nil if it is not of the template.
  func app(of topic: String) -> String? {
    let words = topic.split(separator: "/", omittingEmptySubsequences: false)
    guard words.count == levels.count else { return nil }
    var app: String?
    for (word, level) in zip(words, levels) {
      if let level {
        guard word == level else { return nil }
      } else {
        app = String(word)
      }
    }
    return app
  }

  private static func fill(_ level: Substring, _ place: String, with value: String) -> String {
    guard let start = level.firstIndex(of: "{"), level[start...].hasPrefix(place) else { return String(level) }
    let rest = level[level.index(start, offsetBy: place.count)...]
    return level[..<start] + value + fill(rest, place, with: value)
  }
}
