import ArgumentParser
import RefreshAPI
import Varlink

/// The arguments of a command about one app.
struct AppArguments: ParsableArguments {
  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @OptionGroup var connection: ConnectionOptions

  /// Sends a lifecycle signal, and prints the phase of the app after it.
  func send(_ signal: Wire.LifecycleSignal) throws {
    try connection.ask(AppInterface.Signal.self, .init(app: app, signal: signal)) { ["\(app) is \($1.phase.words)."] }
  }
}

/// The arguments of a command that changes several apps.
struct AppsArguments: ParsableArguments {
  @Argument(help: "The ids of the apps.", completion: .apps)
  var apps: [String]

  @OptionGroup var connection: ConnectionOptions
}

/// The arguments of a command that changes several transfers.
struct TransfersArguments: ParsableArguments {
  @Argument(help: "The numbers of the transfers.", completion: .transfers)
  var ids: [Int64]

  @OptionGroup var connection: ConnectionOptions

  /// Calls a method about the transfers, and prints their new state.
  func change<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, to state: String
  ) throws {
    try connection.ask(method, parameters) { _, _ in [sentence(ids, state)] }
  }
}
