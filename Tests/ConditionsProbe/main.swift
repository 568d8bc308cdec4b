// Prints this machine's conditions as the daemon reads them:
// `conditions-probe [FACT]... [--user UID] [--power DIR] [--network DIR] [--pressure DIR]
// [--usb DIR] [--mounted PATH]... [--present DEVICE]...`
//
// A FACT is a case of ConditionNeed, or `nothing`; the default is all facts. The output has one JSON object a line for
// each reading, signal and session, and on SIGUSR1 for each source, until the process is killed. SIGHUP stops watching,
// as a daemon does after a reload whose apps have no constraint.

@preconcurrency import Glibc
import RefreshDaemon
import RefreshEngine
import Systemd

func fail(_ reason: String) -> Never {
  fputs("\(reason)\n", stderr)
  exit(1)
}

/// Runs `body`, and ends the process if it throws.
func must<Value>(_ body: () throws -> Value) -> Value {
  do { return try body() } catch { fail("\(error)") }
}

let options = must { try Options(CommandLine.arguments.dropFirst()) }
let loop = must { try EventLoop() }

/// Prints what the sources observe.
final class Printer: MachineObserver {
  private var present: Set<UInt32> = []

  func observed(_ observation: Observation) { must { try observation.print() } }

  func sleeps(_ isAsleep: Bool) { must { try line(SwitchLine(event: "sleep", value: isAsleep)) } }

  func sessionsChanged(_ users: Set<UInt32>) {
    for user in present.symmetricDifference(users).sorted() {
      must { try line(SessionLine(user: user, active: users.contains(user))) }
    }
    present = users
  }
}

let printer = Printer()
let sources = ConditionSources(on: loop, settings: options.settings, for: printer)
let zone = must { try LocalZone(on: loop) { zone in must { try line(ZoneLine(zone)) } } }
let signals = must {
  [
    try loop.onSignal(SIGUSR1) {
      must {
        for source in sources.sources { try line(SourceLine(source)) }
        try line(SwitchLine(event: "sources", value: true))
      }
    },
    try loop.onSignal(SIGHUP) { must { try sources.start(needs: []) } },
  ]
}
must {
  try line(ZoneLine(zone.zone))
  try sources.start(needs: options.needs, facts: options.facts)
  try line(SwitchLine(event: "started", value: true))
  exit(try withExtendedLifetime((signals, printer)) { try loop.run() })
}
