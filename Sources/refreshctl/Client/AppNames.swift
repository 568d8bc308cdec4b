import RefreshAPI

/// Finds the app that a person means by its id, a part of it, or its name.
enum AppNames {
  /// The apps that a text may mean: by the id, else by the last part of the id or by the name, else by a part of the id.
  ///
  /// A text with a dot reads as a whole id, maybe of another user's app, so it is not searched as a part. An empty text, as
  /// from an unset variable in a script, matches nothing, although it is a part of every id.
  static func apps(meantBy text: String, among apps: [Wire.App]) -> [Wire.App] {
    guard !text.isEmpty else { return [] }
    let text = text.lowercased()
    let rules: [(Wire.App) -> Bool] = [
      { $0.id == text },
      { $0.id.lowercased().hasSuffix("." + text) || $0.name.lowercased() == text },
      { !text.contains(".") && $0.id.lowercased().contains(text) },
    ]
    return rules.lazy.map { apps.filter($0) }.first { !$0.isEmpty } ?? []
  }

  /// The ids similar to a mistyped text, the nearest first.
  static func ids(like text: String, among apps: [Wire.App]) -> [String] {
    let near = apps.compactMap { app in
      let last = app.id.split(separator: ".").last.map(String.init) ?? ""
      let distance = [app.id, last, app.name].compactMap { Suggestions.distance(of: text, to: $0) }.min()
      return distance.map { (distance: $0, id: app.id) }
    }
    return near.sorted { $0 < $1 }.prefix(3).map(\.id)
  }
}

extension ConnectionOptions {
  /// Calls the daemon with app ids; expands a text that is no id, and reports that on standard error.
  func naming<Result>(
    _ texts: [String], _ call: ([String]) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let refusal: Failure
    do throws(Failure) {
      return try call(texts)
    } catch {
      guard let app = error.app, texts.contains(app) else { throw error }
      refusal = error
    }
    let ids = try ids(of: texts, afterwards: refusal)
    guard ids != texts else { throw refusal }
    return try call(ids)
  }

  /// Calls the daemon with the id of an app, or with a part of it.
  func naming<Result>(
    _ text: String, _ call: (String) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try naming([text]) { ids throws(Failure) in try call(ids.first ?? text) }
  }

  /// The ids that the texts mean; throws unless every text means an app.
  func ids(of texts: [String], afterwards refusal: Failure? = nil) throws(Failure) -> [String] {
    let apps: [Wire.App]
    do throws(Failure) {
      apps = try DaemonClient(self).call(ManagerInterface.List.self, .init()).apps
    } catch {
      throw refusal ?? error
    }
    var ids: [String] = []
    for text in texts { ids.append(try id(of: text, among: apps, afterwards: refusal)) }
    for (text, id) in zip(texts, ids) where text != id { warn("taking \(printable(text)) for \(id)") }
    return ids
  }

  private func id(of text: String, among apps: [Wire.App], afterwards refusal: Failure?) throws(Failure) -> String {
    let meant = AppNames.apps(meantBy: text, among: apps)
    if let only = meant.first, meant.count == 1 { return only.id }
    guard meant.isEmpty else {
      let names = meant.map { named($0.name, $0.id) }.firstFive
      throw Failure(
        status: .notFound,
        text: "cannot tell which app \(printable(text)) is: \(names); write more of the id")
    }
    // A whole id may belong to another user's app: then the daemon's reply says more than a guess.
    if let refusal, refusal.status == .notAllowed, text.contains(".") { return text }
    let like = text.isEmpty ? [] : AppNames.ids(like: text, among: apps)
    if let refusal, refusal.status == .notFound, refusal.app == text, like.isEmpty, !text.isEmpty { throw refusal }
    let question = like.isEmpty ? "" : "did you mean \(like.joined(separator: " or "))? "
    let what = text.isEmpty ? "an app whose id is empty" : "the app \(printable(text))"
    throw Failure(
      status: .notFound, text: "cannot find \(what); \(question)`refreshctl list` shows the apps")
  }
}
