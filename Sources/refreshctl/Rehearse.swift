import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshRehearsal

struct RehearseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse", abstract: "Run the scheduler over what was, to see what another policy would do.",
    discussion: """
      With --trace it needs no daemon: each app of the file is refreshed as often as the system allows, by plan,
      unless --config names it. With --json it prints the schedule, a line for each app.
      """)

  @Option(
    help: ArgumentHelp("What sources and users did, one JSON object a line.", valueName: "file"), completion: .file())
  var trace: String

  @Option(help: ArgumentHelp("The configuration to rehearse.", valueName: "dir"), completion: .directory)
  var config: String?

  @Option(help: "The budget: fresh, balanced or thrifty, in place of the configuration's.")
  var profile: Profile?

  @Flag(help: "Print the schedule as JSON, a line for each app.")
  var json = false

  func run() throws {
    let trace = try readTrace()
    var (limits, policies) = try readPolicies()
    if let profile { limits.profile = profile }
    let schedule = Rehearsal.run(trace, limits: limits, policies: policies)
    if json {
      for app in trace.apps {
        let line = ScheduleLine(app: app.id.description, refreshes: schedule.refreshes[app.id] ?? [])
        print(try line.jsonText(.line))
      }
    } else {
      let freshness = Freshness(schedule.refreshes, on: trace)
      print("\(freshness) \(schedule.wakes)")
    }
  }

  private struct ScheduleLine: Encodable {
    var app: String
    var refreshes: [Double]
  }

  private func readTrace() throws(Failure) -> Trace {
    do throws(TraceError) {
      return try Trace(contentsOf: trace)
    } catch {
      throw Failure(status: .failed, text: "cannot rehearse \(trace): \(error)")
    }
  }

  private func readPolicies() throws(Failure) -> (Limits, [AppID: Policy]) {
    guard let config else { return (Limits(), [:]) }
    do {
      let configuration = try Configuration.load(from: .directory(config), as: Reader())
      return (configuration.limits, Dictionary(configuration.apps.map { ($0.id, $0.policy) }) { first, _ in first })
    } catch {
      let problems = error.problems.map(\.description).joined(separator: "\n")
      throw Failure(status: .failed, text: "cannot rehearse the configuration in \(config):\n\(problems)")
    }
  }
}

extension Profile: ExpressibleByArgument {}
