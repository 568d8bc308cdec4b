import Glibc
import RefreshAPI
import Systemd

// Wiring only: the command line to the service, and its end to an exit code.

do throws(SessionError) {
  let settings = try SessionSettings(arguments: CommandLine.arguments)
  switch settings.purpose {
  case .run: try SessionService(settings).run()
  case .list: try OpenList(settings).print()
  case .help: print(SessionSettings.help, terminator: "")
  case .version: print("refresh-session \(refreshdVersion)")
  }
} catch {
  Journal(identifier: "refresh-session").write(Entry(error.description, priority: .error))
  exit(error.code.rawValue)
}
