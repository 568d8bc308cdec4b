import RefreshEngine

@testable import RefreshDaemon

// The trouble beside the refreshes comes by a chance of its own, so that it leaves all else where it was.

extension SimulatedWorld {
  func beginRooms() {
    for app in apps {
      guard let folder = app.extras.folder else { continue }
      often(.minutes(5) ... .hours(2)) { world in
        world.book.changes.wrote(folder)
        world.life?.folders.change(app.id)
      }
      often(.hours(2) ... .hours(9)) { world in world.life?.folders.lock(app.id) }
    }
    often(.minutes(30) ... .hours(4)) { world in world.space.runShort() }
    often(.hours(1) ... .hours(5)) { world in world.sessions.change() }
    often(.hours(1) ... .hours(5)) { world in world.keepers.startUnit() }
    often(.hours(2) ... .hours(9)) { world in
      guard let app = SimulatedKeepers.app, let daemon = world.life?.daemon else { return }
      daemon.core.handle(.disabled(app, !(daemon.core.engine.state(of: app)?.isDisabled ?? false)))
    }
  }

  private func often(_ range: ClosedRange<Duration>, _ work: @escaping (SimulatedWorld) -> Void) {
    after(fate.duration(range)) { [unowned self] in
      guard !isHealed else { return }
      if life?.isAlive == true { work(self) }
      often(range, work)
    }
  }
}
