import Glibc
import RefreshAPI
import Systemd

// Wiring only: the command line to the bridge, and its end to an exit code.

do throws(ServiceError) {
  let settings = try BridgeSettings(arguments: CommandLine.arguments)
  switch settings.purpose {
  case .run: try BridgeService(settings).run()
  case .help: print(BridgeSettings.help, terminator: "")
  case .version: print("refresh-push \(refreshdVersion)")
  }
} catch {
  for line in error.description.split(separator: "\n") {
    Journal(identifier: "refresh-push").write(JournalEntry(String(line), priority: .error))
  }
  exit(error.code.rawValue)
}
