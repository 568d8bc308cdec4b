import Glibc
import RefreshEngine
import RefreshStore

/// Looks how much room there is on disks, on a thread of its own, so that the loop does not wait for one.
actor RoomReader {
  private nonisolated let executor = ThreadExecutor(name: "refreshd-room")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Which of these files have room for so many bytes, and for a hundredth of their disk besides.
  func roomy(_ needs: [TransferID: (path: String, needed: Int64)]) -> [TransferID] {
    needs.filter { _, need in
      let folder = need.path.lastIndex(of: "/").map { String(need.path[..<$0]) } ?? ""
      var room = statvfs()
      guard statvfs(folder.isEmpty ? "/" : folder, &room) == 0 else { return false }
      let block = Double(room.f_frsize)
      return Double(room.f_bavail) * block > Double(need.needed) + Double(room.f_blocks) * block / 100
    }.keys.sorted()
  }
}

extension Daemon {
  /// How often it is looked whether there is room again, boot clock.
  private static let roomInterval = Duration.seconds(10)

  /// Takes note of whether a transfer waits for room.
  func noteRoom(_ id: TransferID, _ stage: TransferState.Stage) {
    guard case .noSpace = stage else {
      waitingForRoom.remove(id)
      return
    }
    waitingForRoom.insert(id)
    armRoom()
  }

  /// Takes up the transfers that waited for room when the daemon before this one ended.
  func beginToLookForRoom() {
    for id in engine.transferIDs {
      if let stage = engine.transferState(of: id)?.stage { noteRoom(id, stage) }
    }
  }

  private func armRoom() {
    roomTimer?.arm(at: (Moment.now().instant + Self.roomInterval).microseconds, accuracy: 1_000_000)
  }

  /// Looks whether there is room for those that wait for it.
  func lookForRoom() {
    var needs: [TransferID: (path: String, needed: Int64)] = [:]
    for id in waitingForRoom {
      guard case .noSpace(let needed) = engine.transferState(of: id)?.stage, let known = transfers[id] else { continue }
      needs[id] = (known.request.path, needed)
    }
    guard !needs.isEmpty else { return }
    Task { [needs] in
      for id in await roomReader.roomy(needs) { handle(.roomFound(id)) }
      if !waitingForRoom.isEmpty { armRoom() }
    }
  }
}
