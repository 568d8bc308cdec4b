import CLinux
import Glibc
import HTTP
import RefreshAPI
import Varlink

/// `refresh-worker transfer`: moves the files of one app as the daemon orders, until it is told to finish.
///
/// It knows no policy: the daemon says what to move and when to stop, and is told how it went.
final class TransferWorker: TransferPlace {
  let loop: ExchangeLoop
  let disk: Disk
  let reports: Reports
  let boot: String
  private let work: Client
  /// Readable once SIGTERM has come.
  private let stopSignal: Int32
  private var transfers: [Int64: any Transfer] = [:]
  private var folders: [String: WeakFolder] = [:]
  private var maxRate: Int64?
  private var mayFinish = false
  private var told: [Int64: Int64] = [:]
  private var nextProgress = ContinuousClock.now

  private struct WeakFolder {
    weak var folder: Folder?
  }

  /// Connects to the daemon and takes up its work.
  init(socket: String, token: String) throws {
    stopSignal = linux_signal_descriptor(SIGTERM)
    loop = try ExchangeLoop()
    disk = try Disk()
    boot = try Self.bootID()
    work = try Client(path: socket)
    reports = Reports(client: try Client(path: socket), token: token)
    try work.begin(WorkerInterface.Work.name, WorkerInterface.Work.Parameters(token: token), more: true)
  }

  /// Works until the daemon says that it is done, or goes away, or SIGTERM comes.
  func run() throws(ClientError) {
    do throws(ClientError) {
      while !(mayFinish && transfers.isEmpty && reports.isEmpty) {
        let ready = loop.turn(
          watching: [stopSignal, disk.bell, reports.descriptor, work.descriptor], timeout: untilProgress)
        if ready.contains(stopSignal) { return keep() }
        if ready.contains(disk.bell) { disk.takeAnswers() }
        // Orders first: one to stop that crossed an end must find that end untold.
        if ready.contains(work.descriptor) || ready.contains(reports.descriptor) { try takeOrders() }
        if ready.contains(reports.descriptor) { try reports.takeAnswer() }
        tellProgress()
        try reports.send()
      }
    } catch .disconnected {
      // The daemon is gone; it starts another worker when it is back.
      keep()
    } catch {
      keep()
      throw error
    }
  }

  private func keep() {
    for transfer in transfers.values { transfer.keep() }
  }

  // MARK: Orders

  private func takeOrders() throws(ClientError) {
    while let answer = try work.nextAnswer(as: WorkerInterface.Work.Reply.self) {
      for order in answer.parameters.orders { take(order) }
      guard answer.continues else {
        mayFinish = true
        return
      }
    }
  }

  private func take(_ order: Wire.Order) {
    switch order.kind {
    case .transfer: if let id = order.id, let assignment = order.transfer { begin(id, assignment) }
    case .stop: if let id = order.id { stop(id) }
    case .discard: if let id = order.id { discard(id, order.transfer) }
    case .rate:
      maxRate = order.maxRate.flatMap { $0 > 0 ? $0 : nil }
      share()
    case .finish: mayFinish = true
    }
  }

  private func begin(_ id: Int64, _ assignment: Wire.Assignment) {
    guard transfers[id] == nil else { return }
    let transfer: any Transfer =
      switch assignment.direction {
      case .download: Download(id: id, assignment, in: self)
      case .upload: Upload(id: id, assignment, in: self)
      }
    transfers[id] = transfer
    share()
    transfer.start()
  }

  private func stop(_ id: Int64) {
    if let transfer = transfers[id] { return transfer.stop(discarding: false) }
    // An end that the order crossed answers it; the daemon would take a second one for that of its next order.
    if !reports.hasEnd(of: id) { reports.add(Wire.TransferReport(id: id, kind: .ended, end: .stopped)) }
  }

  private func discard(_ id: Int64, _ assignment: Wire.Assignment?) {
    if let transfer = transfers[id] { return transfer.stop(discarding: true) }
    if let assignment, assignment.direction == .download {
      do throws(Trouble) {
        let (folder, name) = try Folder.split(assignment.path)
        try PartFile.discard(in: self.folder(folder), for: name, marked: assignment.resume?.partMark)
      } catch {
        // What is not there, or is another's by now, needs no removing; what may not be removed is told.
        complain(error.message)
      }
    }
    // Also if an end is on its way: the daemon may have it already, and nothing comes after this.
    reports.add(Wire.TransferReport(id: id, kind: .ended, end: .stopped))
  }

  // MARK: For transfers

  func folder(_ path: String) throws(Trouble) -> Folder {
    if let folder = folders[path]?.folder { return folder }
    let folder = try Folder(path: path)
    folders = folders.filter { $0.value.folder != nil }
    folders[path] = WeakFolder(folder: folder)
    return folder
  }

  func ended(_ transfer: any Transfer, _ report: Wire.TransferReport) {
    transfers[transfer.id] = nil
    told[transfer.id] = nil
    reports.add(report)
    share()
  }

  /// Gives each its part of what the whole process may move in a second.
  private func share() {
    let share = maxRate.map { max(1, $0 / Int64(max(1, transfers.count))) }
    for transfer in transfers.values { transfer.limit(to: share) }
  }

  // MARK: Progress

  private var untilProgress: Duration? {
    transfers.isEmpty ? nil : max(.zero, ContinuousClock.now.duration(to: nextProgress)) + .milliseconds(1)
  }

  /// Tells how far all are, twice a second.
  private func tellProgress() {
    guard ContinuousClock.now >= nextProgress else { return }
    nextProgress = .now + .milliseconds(500)
    for transfer in transfers.values {
      let (bytes, total) = transfer.progress
      guard told[transfer.id] != bytes else { continue }
      told[transfer.id] = bytes
      reports.add(Wire.TransferReport(id: transfer.id, kind: .progress, bytes: bytes, total: total))
    }
  }

  private static func bootID() throws(Trouble) -> String {
    let path = "/proc/sys/kernel/random/boot_id"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { throw Trouble(errno: errno, "read", path) }
    return String(decoding: bytes[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
  }
}
