import RefreshEngine

/// The commands and the ping of an app's file for the end of a refresh.
public struct EndRules: Hashable, Sendable {
  /// The command that runs when ``RefreshEngine/Policy/failuresBeforeNotice`` refreshes have failed; nil for none.
  public var onFailure: Command?
  /// The command that runs after a refresh with new data; nil for none.
  public var onNewData: Command?
  /// The command that runs after a refresh that did not fail; nil for none.
  public var onSuccess: Command?
  /// The URL of a dead man's switch, for reports of each refresh; nil for none.
  ///
  /// The whole URL is a secret: anybody who knows it can report in the app's place.
  public var ping: HTTPURL?
  /// The variables that the files add to a ping's environment, each `NAME=value`, such as a proxy.
  public var pingEnvironment: [String] = []
  /// The file with the URL, if it is not the app's own; nil for the app's own.
  var pingFile: String?

  /// Whether each end of a refresh matters, and not only a failing app.
  var wantEachEnd: Bool { onNewData != nil || onSuccess != nil || ping != nil }
}

extension LoadContext {
  /// Checks the URL of a dead man's switch, to which refresh-worker sends pings.
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
  ///
  /// `hasOwnPing` says whether the URL comes from the app's own file, and not from `[defaults]`.
  func endRules(_ settings: ConfigurationSettings, _ owner: Owner, hasOwnPing: Bool) -> Boxed<EndRules>? {
    func command(_ arguments: [String]?) -> Command? { ownCommands(arguments, settings, owner).first }
    var rules = EndRules(
      onFailure: settings.policy.failuresBeforeNotice.flatMap { _ in command(settings.failureCommand) },
      onNewData: command(settings.newDataCommand), onSuccess: command(settings.successCommand), ping: settings.ping)
    if rules.ping != nil {
      rules.pingEnvironment = command([])?.environment ?? []
      rules.pingFile = hasOwnPing ? nil : mainFile
    }
    return rules == EndRules() ? nil : Boxed(rules)
  }
}
