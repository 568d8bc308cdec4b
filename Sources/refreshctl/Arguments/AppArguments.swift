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
