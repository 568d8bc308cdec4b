import CLinux
import Glibc
import HTTP
import RefreshAPI
import Varlink

/// `refresh-worker transfer`: the ``TransferWorker`` as a process.
enum TransferTask {
  /// Runs the worker and returns the exit code.
  static func run() -> Int32 {
    if let failure = Confinement.enter() {
      logError(failure.message)
      return EX_OSERR
    }
    guard let socket = getenv("REFRESH_SOCKET"), let token = getenv("REFRESH_TOKEN") else {
      logError("cannot work: REFRESH_SOCKET and REFRESH_TOKEN are not set; refreshd sets them")
      return EX_USAGE
    }
    do {
      try TransferWorker(socket: String(cString: socket), token: String(cString: token)).run()
      return EX_OK
    } catch {
      logError("\(error)")
      return EX_TEMPFAIL
    }
  }
}

/// `refresh-worker transfer`: runs the transfers of one app until the daemon orders it to finish.
///
/// The worker has no policy of its own: the daemon orders each start and stop, and the worker reports.
final class TransferWorker: TransferHost {
  let loop: ExchangeLoop
  let disk: Disk
  let reports: Reports
  let boot: String
  private let work: Client
  /// Readable after SIGTERM has arrived.
  private let stopSignal: Int32
  private var transfers: [Int64: any Transfer] = [:]
  private var folders: [String: WeakFolder] = [:]
  private var maxRate: Int64?
  private var mayFinish = false
  /// The bytes of each transfer in its last progress report.
  private var reportedBytes: [Int64: Int64] = [:]
  private var nextProgress = ContinuousClock.now

  private struct WeakFolder {
    weak var folder: Folder?
  }

  /// Connects to the daemon and asks it for orders.
  init(socket: String, token: String) throws {
    stopSignal = linux_signal_descriptor(SIGTERM)
    loop = try ExchangeLoop()
    disk = try Disk()
    boot = try Self.bootID()
    work = try Client(path: socket)
    reports = Reports(client: try Client(path: socket), token: token)
    try work.begin(WorkerInterface.Work.self, .init(token: token), more: true)
  }

  /// Runs until the daemon orders the end, the daemon is gone, or SIGTERM arrives.
  func run() throws(ClientError) {
    do throws(ClientError) {
      while !(mayFinish && transfers.isEmpty && reports.isEmpty) {
        let ready = loop.turn(
          watching: [stopSignal, disk.readyDescriptor, reports.descriptor, work.descriptor], timeout: untilProgress)
        if ready.contains(stopSignal) { return sync() }
        if ready.contains(disk.readyDescriptor) { disk.deliverResults() }
        // Read orders first: an order to stop that crossed the report of an end must still find that report here.
        if ready.contains(work.descriptor) || ready.contains(reports.descriptor) { try receiveOrders() }
        if ready.contains(reports.descriptor) { try reports.receiveAnswer() }
        reportProgress()
        try reports.send()
      }
    } catch .disconnected {
      // The daemon is gone; it starts another worker when it is back.
      sync()
    } catch {
      sync()
      throw error
    }
  }

  private func sync() {
    for transfer in transfers.values { transfer.sync() }
  }

  // MARK: Orders

  private func receiveOrders() throws(ClientError) {
    while let answer = try work.nextAnswer(of: WorkerInterface.Work.self) {
      for order in answer.parameters.orders { execute(order) }
      guard answer.continues else {
        mayFinish = true
        return
      }
    }
  }

  private func execute(_ order: Wire.Order) {
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
    guard Confinement.isInPlace else {
      return reports.add(Wire.TransferReport(id: id, kind: .ended, end: .elsewhere))
    }
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
    // A waiting report of the end is the reply to this order; the daemon would take a second one for its next order's.
    if !reports.hasEnd(of: id) { reports.add(Wire.TransferReport(id: id, kind: .ended, end: .stopped)) }
  }

  private func discard(_ id: Int64, _ assignment: Wire.Assignment?) {
    if let transfer = transfers[id] { return transfer.stop(discarding: true) }
    if let assignment, assignment.direction == .download {
      do throws(TaskFailure) {
        let (folder, name) = try Folder.split(assignment.path)
        try PartFile.discard(in: self.folder(folder), for: name, marked: assignment.resume?.partMark)
      } catch {
        // No error for a missing part or another transfer's; only a part that cannot be removed gets here.
        logError(error.message)
      }
    }
    // Report even if the report of an end was sent: the daemon may have read that one before it gave this order.
    reports.add(Wire.TransferReport(id: id, kind: .ended, end: .stopped))
  }

  // MARK: For transfers

  func folder(_ path: String) throws(TaskFailure) -> Folder {
    let folder = try Folder(path: path)
    // Another directory may have this path now.
    if let known = folders[path]?.folder, Folder.isSame(known.descriptor, folder.descriptor) { return known }
    folders = folders.filter { $0.value.folder != nil }
    folders[path] = WeakFolder(folder: folder)
    return folder
  }

  func ended(_ transfer: any Transfer, _ report: Wire.TransferReport, onSaved: @escaping () -> Void) {
    transfers[transfer.id] = nil
    reportedBytes[transfer.id] = nil
    reports.add(report, onSaved: onSaved)
    share()
  }

  /// Divides the worker's rate limit among its transfers.
  private func share() {
    let share = maxRate.map { max(1, $0 / Int64(max(1, transfers.count))) }
    for transfer in transfers.values { transfer.limit(to: share) }
  }

  // MARK: Progress

  private var untilProgress: Duration? {
    transfers.isEmpty ? nil : max(.zero, ContinuousClock.now.duration(to: nextProgress)) + .milliseconds(1)
  }

  /// Reports the progress of all transfers, twice a second.
  private func reportProgress() {
    guard ContinuousClock.now >= nextProgress else { return }
    nextProgress = .now + .milliseconds(500)
    for transfer in transfers.values {
      let (bytes, total) = transfer.progress
      guard reportedBytes[transfer.id] != bytes else { continue }
      reportedBytes[transfer.id] = bytes
      reports.add(Wire.TransferReport(id: transfer.id, kind: .progress, bytes: bytes, total: total))
    }
  }

  private static func bootID() throws(TaskFailure) -> String {
    let path = "/proc/sys/kernel/random/boot_id"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { throw TaskFailure(errno: errno, "read", path) }
    return String(decoding: bytes[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
  }
}
