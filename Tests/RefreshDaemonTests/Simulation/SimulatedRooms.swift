import RefreshEngine

@testable import RefreshDaemon

// The trouble beside the refreshes comes by a chance of its own, so that it leaves all else where it was.

extension SimulatedWorld {
  func beginRooms() {
    often(.minutes(30) ... .hours(4)) { world in world.space.runShort() }
  }

  private func often(_ range: ClosedRange<Duration>, _ work: @escaping (SimulatedWorld) -> Void) {
    after(fate.duration(range)) { [unowned self] in
      guard !isHealed else { return }
      if life?.isAlive == true { work(self) }
      often(range, work)
    }
  }
}
