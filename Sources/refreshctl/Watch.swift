import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Tell what happens as it happens, a line each.",
    discussion: "Until it is interrupted, or the daemon ends. With --json each line is one JSON object.")

  @Argument(help: "The ids of the apps; all if there are none.", completion: .apps)
  var apps: [String] = []

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let parameters = ManagerInterface.Watch.Parameters(apps: apps.isEmpty ? nil : apps)
    try Daemon(connection).stream(ManagerInterface.Watch.self, parameters) { reply throws(Failure) in
      if connection.json { return try connection.showStep(reply.event) }
      guard let line = Screen(of: STDOUT_FILENO).line(reply.event) else { return }
      print(line)
      fflush(stdout)
    }
  }
}

extension Screen {
  /// An event in one line, its time first; nothing for `watching`, which is no news.
  func line(_ event: Wire.WatchEvent) -> String? {
    guard event.kind != .watching else { return nil }
    let time = paint(clock(event.atMicroseconds, seconds: true), .faint)
    let app = event.app.map { printable($0) + ": " } ?? ""
    return "\(time)  \(app)\(words(event))"
  }

  private func words(_ event: Wire.WatchEvent) -> String {
    switch event.kind {
    case .watching: ""
    case .started: "refresh \(printable(event.id ?? "")) starts (\(event.trigger?.spelled ?? ""))"
    case .ended: event.refresh.map(words) ?? "ended"
    case .held: paint("held", .bad) + ": " + names(event.holds?.map(\.name))
    case .released: event.wait.map(words) ?? "released"
    case .phaseChanged: event.phase?.words ?? ""
    case .conditionChanged: condition(event)
    case .switchChanged: word(event)
    case .stale: paint("stale", .bad) + (event.sinceMicroseconds.map { ": its data is of \(clock($0))" } ?? "")
    case .attached: "a process has attached"
    case .detached: "no process is attached any more"
    case .push: push(event)
    }
  }

  private func words(_ refresh: Wire.Refresh) -> String {
    let cause = refresh.cause.map { ": " + printable($0.text) } ?? ""
    let took = Elapsed.measured(refresh.durationMicroseconds)
    return "refresh \(printable(refresh.id)) ended: "
      + "\(paint(refresh.outcome.words, refresh.outcome.style))\(cause) after \(took)"
  }

  private func words(_ wait: Wire.Wait) -> String {
    let span = Elapsed.rough(max(0, wait.untilMicroseconds - wait.sinceMicroseconds))
    return "no longer held by \(names(wait.holds)), after \(span)"
  }

  private func condition(_ event: Wire.WatchEvent) -> String {
    let name = printable(String((event.condition ?? "").map { $0 == "_" ? " " : $0 }))
    let source = event.state.flatMap { $0.source.isEmpty ? nil : " (\(printable($0.source)))" } ?? ""
    return "\(name): \(printable(event.state?.value ?? "unknown"))\(source)"
  }

  private func word(_ event: Wire.WatchEvent) -> String {
    if let isDisabled = event.isDisabled { return isDisabled ? paint("disabled", .bad) : paint("enabled", .good) }
    return event.pause.map { "all apps are paused \(end($0))" } ?? "the pause of all apps has ended"
  }

  private func push(_ event: Wire.WatchEvent) -> String {
    let content = event.contentID.map { " with content \(printable($0))" } ?? ""
    return switch event.fate {
    case .queued: "a push\(content) has come"
    case .merged: "a push\(content) has come, in the place of one that waited"
    case .told: "a push\(content) has come that wakes nobody: what is attached is told"
    case .known: "a push\(content) has come again"
    case nil: "a push\(content)"
    }
  }

  private func names(_ names: [String]?) -> String { printable((names ?? []).joined(separator: ", ")) }
}
