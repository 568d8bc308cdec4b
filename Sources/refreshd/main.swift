import Glibc
import RefreshAPI
import RefreshDaemon

// Wiring only: the command line to the service, and its end to an exit code.

do throws(StartError) {
  var environment: [String] = []
  var next = environ
  while let variable = next.pointee {
    environment.append(String(cString: variable))
    next += 1
  }
  let settings = try Settings(arguments: CommandLine.arguments, environment: environment)
  switch settings.purpose {
  case .run: try Service.run(settings)
  case .check: print("The configuration is good: \(try Service.check(settings)) apps.")
  case .help: print(Settings.help, terminator: "")
  case .version: print("refreshd \(refreshdVersion)")
  }
} catch {
  fputs("refreshd: \(error.description)\n", stderr)
  exit(error.code.rawValue)
}
