import Glibc
import RefreshEngine
import RefreshStore
import Systemd

/// Looks how much space there is on disks, on its own thread, so that the loop does not wait for one.
actor DiskSpaceReader {
  private nonisolated let executor = ThreadExecutor(name: "refreshd-space")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The transfers that fit into a folder, by the bytes that each needs.
  ///
  /// All of them fit if nobody can tell: the worker sees more than the daemon, and its error says more than waiting.
  func fitting(_ needs: [TransferID: Int64], in folder: String) -> [TransferID] {
    var space = statvfs()
    guard statvfs(folder, &space) == 0 else { return needs.keys.sorted() }
    let block = Double(space.f_frsize)
    return RoomCheck.roomy(
      needs, available: Double(space.f_bavail) * block, size: Double(space.f_blocks) * block)
  }
}

/// Lets transfers go on that wait for space on a disk.
final class DiskSpaceWatch {
  /// Answers which transfers fit into a folder, by the bytes that each needs.
  typealias Question = (_ needs: [TransferID: Int64], _ folder: String, _ then: @escaping ([TransferID]) -> Void) ->
    Void

  private unowned let core: DaemonCore
  private let makeQuestion: () -> Question
  private var question: Question?
  private var check = RoomCheck()
  private var timer: (any WakeTimer)?
  /// The path of a transfer's file; set once.
  var path: (TransferID) -> String? = { _ in nil }

  init(_ core: DaemonCore, _ makeQuestion: @escaping () -> Question) {
    (self.core, self.makeQuestion) = (core, makeQuestion)
  }

  /// Makes the timer, and begins with the transfers that waited when the daemon before this one ended.
  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in look() }
    for id in core.engine.transferIDs {
      if let stage = core.engine.transferState(of: id)?.stage { note(id, stage) }
    }
  }

  /// Takes note of whether a transfer waits for space; the stage is nil when the transfer is gone.
  func note(_ id: TransferID, _ stage: TransferState.Stage?) {
    if case .noSpace(let needed) = stage, let path = path(id) {
      check.add(id, path: path, needed: needed, at: core.now)
      arm()
    } else {
      check.remove(id)
    }
  }

  private func arm() {
    if let wake = check.wake { timer?.arm(at: wake.microseconds, accuracy: 1_000_000) }
  }

  /// Looks whether there is space for the transfers that wait for it, folder by folder.
  ///
  /// A mount whose server is gone may never answer. Its question is left to its thread: when it is time again, the other
  /// folders are asked about on a new thread.
  private func look() {
    let looks = check.begin(at: core.now)
    guard check.wake != nil else { return }
    arm()
    if question == nil || check.hasUnanswered { question = makeQuestion() }
    if let question { ask(looks[...], question) }
  }

  private func ask(_ looks: ArraySlice<RoomCheck.Look>, _ question: @escaping Question) {
    guard let look = looks.first(where: { check.claim($0.folder) }) else { return }
    question(look.needs, look.folder) { fitting in
      self.check.end(look.folder)
      for id in fitting { self.core.handle(.roomFound(id)) }
      self.ask(looks.drop { $0 != look }.dropFirst(), question)
    }
  }
}
