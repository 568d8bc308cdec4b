import Glibc
import RefreshEngine
import RefreshStore
import Systemd

/// Looks how much space there is on disks, on its own thread, so that the loop does not wait for one.
actor DiskSpaceReader {
  private nonisolated let executor = ThreadExecutor(name: "refreshd-space")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The transfers that fit into a folder, by the bytes that each needs, with a hundredth of the disk left free.
  ///
  /// All of them fit if nobody can tell: the worker sees more than the daemon, and its error says more than waiting.
  func fitting(_ needs: [TransferID: Int64], in folder: String) -> [TransferID] {
    var space = statvfs()
    guard statvfs(folder, &space) == 0 else { return needs.keys.sorted() }
    let block = Double(space.f_frsize)
    let most = Double(space.f_bavail) * block - Double(space.f_blocks) * block / 100
    return needs.filter { Double($0.value) < most }.keys.sorted()
  }
}

/// Lets transfers go on that wait for space on a disk.
final class DiskSpaceWatch {
  /// Answers which transfers fit into a folder, by the bytes that each needs.
  typealias Question = (_ needs: [TransferID: Int64], _ folder: String, _ then: @escaping ([TransferID]) -> Void) ->
    Void

  /// How often disks are looked at, boot clock.
  private static let interval = Duration.seconds(10)

  private unowned let core: DaemonCore
  private let makeQuestion: () -> Question
  private var question: Question?
  private var waiting: Set<TransferID> = []
  /// The folders that were asked about and not answered yet.
  private var asked: Set<String> = []
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

  /// Takes note of whether a transfer waits for space.
  func note(_ id: TransferID, _ stage: TransferState.Stage) {
    guard case .noSpace = stage else {
      waiting.remove(id)
      return
    }
    waiting.insert(id)
    arm()
  }

  private func arm() { core.scheduler.arm(timer, after: Self.interval, accuracy: 1_000_000) }

  /// Looks whether there is space for the transfers that wait for it, folder by folder.
  ///
  /// A mount whose server is gone may never answer. Its question is left to its thread: when it is time again, the other
  /// folders are asked about on a new thread.
  private func look() {
    var needs: [String: [TransferID: Int64]] = [:]
    for id in waiting {
      guard case .noSpace(let needed) = core.engine.transferState(of: id)?.stage, let path = path(id) else { continue }
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
      needs[folder.isEmpty ? "/" : folder, default: [:]][id] = needed
    }
    guard !needs.isEmpty else { return }
    arm()
    let isNew = question == nil || !asked.isEmpty
    let question = isNew ? makeQuestion() : question
    self.question = question
    if let question { ask(needs.filter { !asked.contains($0.key) }.sorted { $0.key < $1.key }[...], question) }
  }

  private func ask(_ folders: ArraySlice<(key: String, value: [TransferID: Int64])>, _ question: @escaping Question) {
    guard let (folder, needs) = folders.first else { return }
    guard asked.insert(folder).inserted else { return ask(folders.dropFirst(), question) }
    question(needs, folder) { fitting in
      self.asked.remove(folder)
      for id in fitting { self.core.handle(.roomFound(id)) }
      self.ask(folders.dropFirst(), question)
    }
  }
}
