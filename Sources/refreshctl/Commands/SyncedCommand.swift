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
    try arguments.ask(AppInterface.Synced.self, { .init(app: $0, newData: newData) }) { _, _, app in
      ["\(app) has been synced: \(newData ? "new data" : "no data")."]
    }
  }
}
