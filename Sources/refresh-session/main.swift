import Glibc
import RefreshAPI
import Systemd

// Wiring only: the command line to the service, and its end to an exit code.

do throws(ServiceError) {
  let settings = try SessionSettings(arguments: CommandLine.arguments)
  switch settings.purpose {
  case .run: try SessionService(settings).run()
  case .list:
    // A shell reports the end by a signal in this way.
    if let signal = try OpenList(settings).print() { exit(128 + signal) }
  case .help: print(SessionSettings.help, terminator: "")
  case .version: print("refresh-session \(refreshdVersion)")
  }
} catch {
  Journal(identifier: "refresh-session").write(JournalEntry(error.description, priority: .error))
  exit(error.code.rawValue)
}
