import RefreshConfig

/// The topics of the apps' messages: a template with the app's id as one of its levels, and a table.
struct BrokerTopics: Hashable, Sendable {
  /// The levels of the template, nil for the level with the app's id; empty without a template.
  private let levels: [String?]
  /// The app of each topic of the table.
  private let apps: [String: String]
  /// The same with a slash for each dot, because RabbitMQ takes dots for slashes.
  private let appsWithoutDots: [String: String]
  /// The filters that match these topics.
  let filters: [String]

  /// Reads a template such as `refreshd/{machine}/{app}`, and a table of the apps of topics.
  ///
  /// RefreshConfig has checked that `{app}` is one of the template's levels.
  init(_ template: String?, apps table: [String: String] = [:], machine: String) {
    func filled(_ text: some StringProtocol) -> String {
      BrokerSettings.replace(BrokerSettings.machine, in: text, with: machine)
    }
    levels = (template?.split(separator: "/", omittingEmptySubsequences: false) ?? []).map {
      $0 == BrokerSettings.app ? nil : filled($0)
    }
    apps = Dictionary(table.map { (filled($0.key), $0.value) }) { first, _ in first }
    appsWithoutDots = Dictionary(apps.map { (Self.withoutDots($0.key), $0.value) }) { first, _ in first }
    filters = (levels.isEmpty ? [] : [levels.map { $0 ?? "+" }.joined(separator: "/")]) + apps.keys.sorted()
  }

  /// The app of a topic; nil if no app has it.
  func app(of topic: String) -> String? {
    apps[topic] ?? app(byTemplate: topic) ?? appsWithoutDots[Self.withoutDots(topic)]
  }

  private func app(byTemplate topic: String) -> String? {
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

  private static func withoutDots(_ topic: String) -> String { String(topic.map { $0 == "." ? "/" : $0 }) }
}
