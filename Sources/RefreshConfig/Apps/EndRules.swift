import RefreshEngine

/// The commands and the ping of an app's file for the end of a refresh.
public struct EndRules: Hashable, Sendable {
  /// The command that runs when ``RefreshEngine/Policy/failuresBeforeNotice`` refreshes have failed; nil for none.
  public var onFailure: Command?
  /// The command that runs after a refresh with new data; nil for none.
  public var onNewData: Command?
  /// The command that runs after a refresh that did not fail; nil for none.
  public var onSuccess: Command?
  /// The URL of a dead man's switch, which is sent how each refresh went; nil for none.
  ///
  /// The whole URL is a secret: who knows it can report in the app's place.
  public var ping: HTTPURL?

  /// Whether each end of a refresh is of interest, and not only that the app is failing.
  var wantEachEnd: Bool { onNewData != nil || onSuccess != nil || ping != nil }
}

extension LoadContext {
  /// Checks the URL of a dead man's switch, which refresh-worker asks.
  func ping(_ text: String) throws(Unreadable) -> HTTPURL {
    let url = try HTTPURL(text)
    guard worker != nil else {
      throw Unreadable(
        "cannot ping \(url.host) without the program refresh-worker",
        remedy: "install it beside refreshd, or ping by on_success and on_failure")
    }
    return url
  }

  /// The rules of an app's settings; nil for none.
  func endRules(_ settings: ConfigurationSettings, _ owner: Owner) -> Boxed<EndRules>? {
    func command(_ arguments: [String]?) -> Command? { ownCommands(arguments, settings, owner).first }
    let rules = EndRules(
      onFailure: settings.policy.failuresBeforeNotice.flatMap { _ in command(settings.failureCommand) },
      onNewData: command(settings.newDataCommand), onSuccess: command(settings.successCommand), ping: settings.ping)
    return rules == EndRules() ? nil : Boxed(rules)
  }
}
