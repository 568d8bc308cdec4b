import Glibc
import RefreshEngine
import Systemd

/// A source of facts that apps' files name, such as the kernel's table of mounts.
protocol NamedFactSource: AnyObject {
  /// The name of the source, for people.
  var name: String { get }
  /// Why the source may miss changes, in one sentence; nil when all is well.
  var problem: String? { get }
  /// The state of a fact by its name; nil if the source does not know it.
  func state(of name: String) -> FactState?
}

/// Watches the facts of one constraint that apps' files name, and reports each change once.
///
/// The source is open only while an app asks for one of its facts.
final class NamedFactWatch {
  /// A constraint whose facts are watched, and how its source is opened.
  struct Kind: Sendable {
    let constraint: Constraint
    /// Opens the source, which calls the closure after every change that it sees.
    let open:
      @Sendable (EventLoop, ConditionSources.Settings, @escaping () -> Void) throws(SystemdError) -> any NamedFactSource
  }

  /// Every constraint whose facts are watched.
  static let kinds = [
    Kind(constraint: .mounted) { (loop, settings, onChange) throws(SystemdError) in
      try MountTable(settings.mounts, on: loop, onChange: onChange)
    },
    Kind(constraint: .present) { (loop, settings, onChange) throws(SystemdError) in
      try USBDevices(in: settings.usbDevices, on: loop, onChange: onChange)
    },
  ]

  private let kind: Kind
  private let loop: EventLoop
  private let settings: ConditionSources.Settings
  private let report: (NamedFact, Reading<FactState>) -> Void
  private var source: (any NamedFactSource)?
  /// Why the source cannot be opened.
  private var trouble: String?
  private var reported: [NamedFact: Reading<FactState>] = [:]

  init(
    _ kind: Kind, on loop: EventLoop, _ settings: ConditionSources.Settings,
    report: @escaping (NamedFact, Reading<FactState>) -> Void
  ) {
    (self.kind, self.loop, self.settings, self.report) = (kind, loop, settings, report)
  }

  /// Watches the facts of this kind, and no others.
  func watch(_ facts: Set<NamedFact>) {
    let wanted = facts.filter { $0.constraint == kind.constraint }
    for fact in reported.keys.sorted() where !wanted.contains(fact) {
      reported[fact] = nil
      report(fact, Reading())
    }
    guard !wanted.isEmpty else { return (source, trouble) = (nil, nil) }
    let wasClosed = source == nil
    if wasClosed { open() }
    // A source that could not be opened before may now know facts that were reported as unknown.
    for fact in wanted.sorted() where wasClosed || reported[fact] == nil { look(at: fact) }
  }

  /// The source and its state; nil while no app asks for one of its facts.
  var status: SourceStatus? {
    guard source != nil || trouble != nil else { return nil }
    return SourceStatus(
      fact: kind.constraint.rawValue, name: source?.name ?? "", text: trouble ?? source?.problem ?? "answers")
  }

  private func open() {
    do throws(SystemdError) {
      source = try kind.open(loop, settings) { [unowned self] in
        for fact in reported.keys.sorted() { look(at: fact) }
      }
      trouble = nil
    } catch {
      trouble = error.description
    }
  }

  private func look(at fact: NamedFact) {
    let reading = Reading(
      source?.state(of: fact.name), source: source?.name ?? "", problem: trouble ?? source?.problem)
    guard reported[fact] != reading else { return }
    reported[fact] = reading
    report(fact, reading)
  }
}

/// The mounted file systems, from the kernel's table (proc_pid_mountinfo(5)).
///
/// The kernel sends an event for each change of the table; nothing is polled. No file system is read, so that a silent file
/// system delays nobody.
final class MountTable: NamedFactSource {
  /// How long changes are gathered before the table is read again, in microseconds: containers mount dozens in a moment.
  private static let pause: Int64 = 100_000

  let name: String
  private let onChange: () -> Void
  private(set) var problem: String?

  /// The folders on which a file system is mounted.
  private(set) var points: Set<String> = []
  private let loop: EventLoop
  private let descriptor: Int32
  private var source: UrgentSource?
  private var timer: TimerSource?

  /// Reads the table and starts to watch it; calls `onChange` after every change.
  init(_ path: String, on loop: EventLoop, onChange: @escaping () -> Void) throws(SystemdError) {
    (name, self.onChange) = (path, onChange)
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemdError(cannot: "watch \(path)", code: errno) }
    self.loop = loop
    timer = try loop.timer { [unowned self] in look() }
    try watch()
    read()
  }

  deinit {
    source?.cancel()
    timer?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }

  func state(of name: String) -> FactState? {
    guard problem == nil else { return nil }
    return points.contains(name)
      ? FactState(isMet: true, text: "mounted") : FactState(isMet: false, text: "no file system there")
  }

  private func watch() throws(SystemdError) {
    source = try loop.watchUrgent(descriptor) { [unowned self] in changed() }
  }

  /// The kernel keeps a further change pending on the descriptor, so that the pause misses nothing.
  private func changed() {
    source?.cancel()
    source = nil
    timer?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: 1000)
  }

  private func look() {
    do throws(SystemdError) {
      try watch()
      read()
    } catch {
      problem = error.description
    }
    onChange()
  }

  private func read() {
    let bytes = SmallFiles.bytes(of: descriptor)
    problem = bytes.isEmpty ? "\(name) cannot be read" : nil
    points = Self.points(String(decoding: bytes, as: UTF8.self))
  }

  /// The folders on which a file system is mounted.
  ///
  /// Skips automount points not yet mounted, and bind mounts of the same files, as in a service's sandbox.
  static func points(_ table: String) -> Set<String> {
    var mounts: [Substring: Mount] = [:]
    let lines = table.utf8.split(separator: UInt8(ascii: "\n")).compactMap(Mount.init)
    for mount in lines { mounts[mount.id] = mount }
    return Set(lines.filter { $0.type != "autofs" && !$0.isView(of: mounts[$0.parent]) }.map(\.point))
  }

  /// A line of the table.
  private struct Mount {
    let id: Substring
    let parent: Substring
    /// The number of the file system's device.
    let device: Substring
    /// The folder of the file system that the mount shows.
    let root: String
    let point: String
    let type: Substring

    /// Splits bytes and not characters, because a machine with containers has thousands of lines.
    init?(_ line: Substring.UTF8View) {
      let fields = line.split(separator: UInt8(ascii: " ")).map(Substring.init)
      guard fields.count > 6, let end = fields.firstIndex(of: "-"), end + 1 < fields.count else { return nil }
      (id, parent, device, type) = (fields[0], fields[1], fields[2], fields[end + 1])
      (root, point) = (MountPoints.unescaped(fields[3]), MountPoints.unescaped(fields[4]))
    }

    /// Whether it shows the same folder of the same file system as the mount below it.
    func isView(of parent: Mount?) -> Bool {
      guard let parent, parent.device == device, point.hasPrefix(parent.point) else { return false }
      let rest = point.dropFirst(parent.point.utf8.count).drop { $0 == "/" }
      let below = rest.isEmpty ? parent.root : (parent.root == "/" ? "" : parent.root) + "/" + rest
      return root == below
    }
  }
}

/// The USB devices that are plugged in, from the kernel (Documentation/ABI/stable/sysfs-bus-usb).
///
/// Reads the files at the start and after each event of udev(7); nothing is polled.
final class USBDevices: NamedFactSource {
  /// How long events are gathered before the devices are read again, in microseconds: a hub brings many at once.
  private static let pause: Int64 = 200_000

  let name: String
  private let onChange: () -> Void
  private(set) var problem: String?

  private var devices: Set<String> = []
  private var monitor: DeviceMonitor?
  private var timer: TimerSource?
  private var isPausing = false

  /// Reads the devices and starts to watch them; calls `onChange` after every event.
  init(in directory: String, on loop: EventLoop, onChange: @escaping () -> Void) throws(SystemdError) {
    (name, self.onChange) = (directory, onChange)
    timer = try loop.timer { [unowned self] in look() }
    monitor = try loop.onDevice(of: "usb") { [unowned self] in changed() }
    read()
  }

  deinit { timer?.cancel() }

  func state(of name: String) -> FactState? {
    devices.contains(name)
      ? FactState(isMet: true, text: "plugged in") : FactState(isMet: false, text: "no such device")
  }

  private func changed() {
    guard !isPausing else { return }
    isPausing = true
    timer?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: 1000)
  }

  private func look() {
    isPausing = false
    read()
    onChange()
  }

  private func read() {
    devices = []
    for device in SmallFiles.names(in: name) {
      func text(_ attribute: String) -> String? { SmallFiles.text(of: "\(name)/\(device)/\(attribute)") }
      // The directory of an interface has neither file.
      guard let vendor = text("idVendor"), let product = text("idProduct") else { continue }
      devices.insert("usb:\(vendor):\(product)".lowercased())
    }
  }
}
