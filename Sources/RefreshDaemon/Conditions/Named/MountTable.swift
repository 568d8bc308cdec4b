import Glibc
import RefreshEngine
import Systemd

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
