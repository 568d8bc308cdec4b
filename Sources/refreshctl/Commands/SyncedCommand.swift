import ArgumentParser
import RefreshAPI

struct SyncedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "synced", abstract: "Report a sync that an app has made by itself.",
    discussion: """
      It counts as a refresh: the data is fresh, the next refresh comes an interval later, and refreshd learns from it \
      how often there is new data. It does not count as an opening. A task of a refresh runs `complete` instead.
      """)

  @OptionGroup var arguments: AppArguments

  @Flag(help: "There was something new.")
  var newData = false

  func run() throws {
    let (app, newData) = (arguments.app, newData)
    try arguments.connection.ask(AppInterface.Synced.self, .init(app: app, newData: newData)) { _, _ in
      ["\(app) has been synced: \(newData ? "new data" : "no data")."]
    }
  }
}
