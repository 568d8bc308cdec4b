import ArgumentParser
import RefreshAPI
import Varlink

/// The arguments of a command about one app.
struct AppArguments: ParsableArguments {
  @Argument(help: "The id of the app, or a part of it.", completion: .apps)
  var app: String

  @OptionGroup var connection: ConnectionOptions

  /// Calls a method about the app, and prints the reply.
  func ask<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: (String) -> Method.Parameters,
    lines: (Screen, Method.Reply, String) -> [String]
  ) throws(Failure) {
    try connection.naming(app) { id throws(Failure) in
      try connection.ask(method, parameters(id)) { lines($0, $1, id) }
    }
  }
}

/// The arguments of a command that changes several apps.
struct AppsArguments: ParsableArguments {
  @Argument(help: "The ids of the apps, or parts of them.", completion: .apps)
  var apps: [String]

  @OptionGroup var connection: ConnectionOptions

  /// Calls a method about the apps, all or none of them, and prints the reply.
  func change<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: ([String]) -> Method.Parameters, lines: (Screen, Method.Reply) -> [String]
  ) throws(Failure) {
    try connection.naming(apps) { ids throws(Failure) in
      try connection.ask(method, parameters(ids), lines: lines)
    }
  }

  /// Sends a lifecycle signal to each app, and prints its effect.
  func send(_ signal: Wire.LifecycleSignal) throws(Failure) {
    // If one of several ids is mistyped, no app gets the signal.
    let ids = apps.count > 1 ? try connection.ids(of: apps) : apps
    for id in ids { try connection.send(signal, to: id) }
  }
}

extension ConnectionOptions {
  /// Sends a lifecycle signal to an app, and prints its effect.
  func send(_ signal: Wire.LifecycleSignal, to app: String) throws(Failure) {
    try naming(app) { id throws(Failure) in
      try ask(AppInterface.Signal.self, .init(app: id, signal: signal)) { [$1.phase.sentence(of: id, after: signal)] }
    }
  }

  /// Calls the daemon with app ids.
  ///
  /// Replaces a text that is not an id by the id that it means, and says so on standard error.
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
        text: "cannot choose an app for \(printable(text)): \(names); write more of the id")
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

/// Finds the app that a person means by its id, a part of it, or its name.
enum AppNames {
  /// The apps that a text may mean: by the id, else by the last part of the id or by the name, else by a part of the id.
  ///
  /// A text with a dot is read as a whole id, perhaps that of another user's app, and not as a part of one. An empty text,
  /// for example from an unset variable in a script, matches nothing, although it is a part of every id.
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

/// Guesses what a mistyped word means.
enum Suggestions {
  /// The texts similar to a mistyped one, the nearest first, at most three.
  static func texts(like text: String, among known: [String]) -> [String] {
    let near = known.compactMap { one in distance(of: text, to: one).map { (distance: $0, text: one) } }
    return near.sorted { $0 < $1 }.prefix(3).map(\.text)
  }

  /// The number of edits from a mistyped text to another; nil if there are too many for a mistake.
  static func distance(of text: String, to other: String) -> Int? {
    let distance = text.lowercased().edits(to: other.lowercased())
    return distance <= (text.count < 4 ? 1 : max(2, text.count / 3)) ? distance : nil
  }
}
