import Glibc
import RefreshEngine
import RefreshStore

/// Looks how much room there is on disks, on a thread of its own, so that the loop does not wait for one.
actor RoomReader {
  private nonisolated let executor = ThreadExecutor(name: "refreshd-room")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Which transfers have room in a folder for so many bytes, and for a hundredth of its disk besides.
  ///
  /// All of them where nobody can tell: the worker sees more than the daemon, and its trouble says more than waiting.
  func roomy(_ needs: [TransferID: Int64], in folder: String) -> [TransferID] {
    var room = statvfs()
    guard statvfs(folder, &room) == 0 else { return needs.keys.sorted() }
    let block = Double(room.f_frsize)
    let most = Double(room.f_bavail) * block - Double(room.f_blocks) * block / 100
    return needs.filter { Double($0.value) < most }.keys.sorted()
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

  /// Looks whether there is room for those that wait for it, folder by folder.
  ///
  /// A mount whose server is gone may never answer. It costs the transfers there and one thread: what is still unanswered
  /// when it is time again is left to its thread, and the other folders are looked at on a new one.
  func lookForRoom() {
    var needs: [String: [TransferID: Int64]] = [:]
    for id in waitingForRoom {
      guard case .noSpace(let needed) = engine.transferState(of: id)?.stage, let known = transfers[id] else { continue }
      let folder = known.request.path.lastIndex(of: "/").map { String(known.request.path[..<$0]) } ?? ""
      needs[folder.isEmpty ? "/" : folder, default: [:]][id] = needed
    }
    guard !needs.isEmpty else { return }
    armRoom()
    if !foldersLookedAt.isEmpty { roomReader = RoomReader() }
    let reader = roomReader
    let folders = needs.filter { !foldersLookedAt.contains($0.key) }.sorted { $0.key < $1.key }
    Task {
      for (folder, needed) in folders where foldersLookedAt.insert(folder).inserted {
        let found = await reader.roomy(needed, in: folder)
        foldersLookedAt.remove(folder)
        for id in found { handle(.roomFound(id)) }
      }
    }
  }
}
