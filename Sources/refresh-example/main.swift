// An app that refreshes itself: `refresh-example [APP-ID]`, with `make run` in another terminal.
//
// Its data is the load of the machine, and its window is the terminal. The daemon needs a file apps.d/APP-ID.toml,
// which may have no [[task]].
import Glibc
import RefreshKit

/// The data that the app shows.
actor Load {
  private var shown = ""

  /// Reads the load; a real app would ask its server.
  func refresh(_ context: RefreshContext) throws -> RefreshResult {
    if let payload = context.payload { print("  a \(context.trigger) brought \(payload)") }
    context.onExpiration { print("  the deadline is near: keep what is done so far") }
    guard let file = fopen("/proc/loadavg", "r") else { throw RetryLater(after: .seconds(60), "there is no /proc") }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 64)
    fgets(&line, Int32(line.count), file)
    // A longer refresh should check this regularly, because the deadline cancels the task.
    try Task.checkCancellation()
    let load = String(decoding: line.prefix { $0 != 0x20 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    if load == shown { return .noData }
    shown = load
    return .newData("the load is \(load)")
  }
}

@Sendable func show(_ event: RefreshEvent) {
  switch event {
  case .attached(let phase): print("refreshd keeps it fresh; it is in the \(phase)")
  case .phaseChanged(let phase): print("in the \(phase) now")
  case .started(let id, let trigger): print("refresh \(id) begins (\(trigger))")
  case .taskEnded(let id, let task, let outcome, let message):
    print("task \(task) of refresh \(id) ended: \(outcome) \(message ?? "")")
  case .ended(let id, let outcome, let message): print("refresh \(id) ended: \(outcome) \(message ?? "")")
  case .push(let payload, _): print("a push that asks for no refresh: \(payload)")
  case .pushDropped(let content, _): print("a push\(content.map { " with content \($0)" } ?? "") was dropped")
  case .disconnected(let error, let pause): print("\(error); trying again in \(pause)")
  }
}

do {
  let load = Load()
  let client = try await RefreshClient.connect(app: CommandLine.arguments.dropFirst().first ?? "org.example.load")
  // Detached, because the main actor waits for the keyboard below.
  Task.detached { for await event in client.events { show(event) } }
  await client.onRefresh { try await load.refresh($0) }

  var lease: ForegroundLease? = await client.foreground()
  print("You look at it. Enter: look away, or look at it again. Ctrl-D: close it.")
  while readLine() != nil {
    if lease == nil { lease = await client.foreground() } else { lease = nil }
  }
  await client.close()
} catch {
  print(error)
  exit(1)
}
