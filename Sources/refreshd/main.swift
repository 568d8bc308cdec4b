import Glibc
import RefreshAPI
import RefreshDaemon

// Wiring only: the command line to the service, and its end to an exit code.

// A reload that is asked for before the daemon listens waits; by default SIGHUP would end the process.
Service.holdReloads()

do throws(ServiceError) {
  let settings = try DaemonSettings(arguments: CommandLine.arguments, environment: DaemonSettings.ownEnvironment())
  switch settings.purpose {
  case .run: try Service.run(settings)
  case .check:
    let apps = try Service.check(settings)
    print("The configuration is good: \(apps) \(apps == 1 ? "app" : "apps").")
  case .help: print(DaemonSettings.help, terminator: "")
  case .version: print("refreshd \(refreshdVersion)")
  }
} catch {
  error.report()
  exit(error.code.rawValue)
}
