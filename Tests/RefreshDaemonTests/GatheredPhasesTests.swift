import RefreshAPI
import RefreshEngine
import RefreshStore
import Testing

@testable import RefreshDaemon

/// Changes of phase share commits, so that apps that come and go do not keep a slow disk busy.
@Suite struct GatheredPhasesTests {
  private let todo: AppID
  private let world: VirtualDaemon

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    let file = """
      id = "org.example.todo"
      foreground_interval = "never"
      background_interval = "never"
      on_foreground = "never"
      [[task]]
      run = ["true"]
      """
    world = try VirtualDaemon(apps: ["org.example.todo": file])
    world.scheduler.run(for: .seconds(600))
  }

  /// Makes a commit take this long, and returns the number of requested commits.
  private func commit(taking span: Duration) -> Int {
    world.store.isPrompt = false
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .milliseconds(100))
    world.scheduler.run(for: span)
    world.store.finish()
    world.store.isPrompt = true
    return world.store.attempts
  }

  @Test func aSlowDiskIsAskedSeldom() throws {
    // Some of the time went before the commit began, so that it took longer than this.
    let before = commit(taking: .milliseconds(20))
    for signal in [Signal.background, .foreground, .background] { world.send(signal, of: todo) }
    world.scheduler.run(for: .milliseconds(99))
    #expect(world.store.attempts == before)
    world.scheduler.run(for: .milliseconds(1))
    #expect(world.store.attempts == before + 1)
    #expect(try #require(world.store.saved.last?.states[todo]).isForeground == false)
  }

  @Test func whatASlowDiskIsTakingIsFollowedByTheRestLater() {
    world.store.isPrompt = false
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .milliseconds(100))
    let before = world.store.attempts
    world.send(.background, of: todo)
    world.store.finish()
    world.scheduler.run(for: .milliseconds(50))
    #expect(world.store.attempts == before)
    world.scheduler.run(for: .milliseconds(50))
    #expect(world.store.attempts == before + 1)
  }

  @Test func aSwitchWaitsForNoOthers() {
    let before = commit(taking: .milliseconds(20))
    world.send(.background, of: todo)
    world.daemon.handleDurably([.disabled(todo, true)]) { _ in }
    world.scheduler.run(for: .zero)
    #expect(world.store.attempts == before + 1)
  }

  @Test func aRefusedChangeThatTheDiskTakesAfterAllIsUndoneAtOnce() throws {
    world.store.isPrompt = false
    var refusal: StoreError?
    world.daemon.handleDurably([.disabled(todo, true)]) { refusal = $0 }
    world.scheduler.run(for: Saving.callersPatience)
    #expect(refusal != nil)
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .zero)
    #expect(try #require(world.store.saved.last?.states[todo]).isDisabled == false)
  }

  @Test func aFloodOfOpeningsLosesNone() {
    let before = commit(taking: .milliseconds(20))
    let saved = world.store.saved.count
    for _ in 0..<400 {
      world.send(.background, of: todo)
      world.send(.foreground, of: todo)
    }
    world.scheduler.run(for: .milliseconds(100))
    #expect(world.store.attempts > before + 1)
    #expect(world.store.saved[saved...].reduce(0) { $0 + $1.changes.history.openings.count } == 800)
  }
}
