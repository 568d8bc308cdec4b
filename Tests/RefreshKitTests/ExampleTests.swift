import FoundationEssentials
import Glibc
import RefreshKit
import Synchronization
import Testing

/// The Swift example in docs/protocol.md compiles, and does what it says.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ExampleTests {
  @Test func theExampleIsTheOneThatRuns() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let page = try String(contentsOfFile: "\(root)/docs/protocol.md", encoding: .utf8)
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let shown = try #require(page.between("```swift\n", "```\n"))
    let run = try #require(source.between("// EXAMPLE\n", "    // EXAMPLE end\n"))
    #expect(run.split(separator: "\n").map { $0.dropFirst(4) } == shown.split(separator: "\n"))
  }

  @Test func theExampleRuns() async throws {
    let daemon = try Daemon()
    setenv("REFRESH_SOCKET", daemon.socket, 1)
    defer { unsetenv("REFRESH_SOCKET") }
    let todo = Todo()
    let window = Window(daemon: daemon)
    // EXAMPLE
    let client = try await RefreshClient.connect(app: "org.example.todo")
    await client.onRefresh { context in
      context.onExpiration { todo.keep() }  // 5 s before the deadline; the deadline cancels the task
      let news = try await todo.sync()  // an error is a failure, RetryLater one that is worth a retry
      return news == 0 ? .noData : .newData("\(news) new items")
    }
    try await client.setBackgroundInterval(.hours(1))
    try await client.withForeground {  // refreshed at once if it is stale, and every foreground interval from then on
      try await window.run()
    }
    // EXAMPLE end
    let events = client.events
    try daemon.refresh()
    for await case .ended(_, let outcome, let message) in events {
      #expect(outcome == .newData && message == "3 new items")
      break
    }
    #expect(try daemon.shown().backgroundInterval.inForce == "1h")
  }

  private struct Todo {
    func keep() {}
    func sync() async throws -> Int { 3 }
  }

  private struct Window {
    let daemon: Daemon
    func run() async throws { try await daemon.wait(for: .foreground) }
  }
}

extension String {
  fileprivate func between(_ begin: String, _ end: String) -> Substring? {
    guard let begin = firstRange(of: begin), let end = self[begin.upperBound...].firstRange(of: end) else { return nil }
    return self[begin.upperBound..<end.lowerBound]
  }
}
