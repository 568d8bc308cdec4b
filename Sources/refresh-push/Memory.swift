import CLinux
import Glibc
import JSON

/// Where each source goes on, in a file of the state directory: the id of the last message that the daemon has, or the
/// session with a broker.
///
/// An id is written only after the daemon has stored what came before, so that at worst a message comes twice, which the
/// daemon knows by its id. Neither is a secret; topics of ntfy and payloads are not kept.
@MainActor
final class Memory {
  private let folder: String
  private let lock: Int32
  private var path: String { "\(folder)/sources.json" }
  private var places: [String: String] = [:]

  /// Reads what is remembered in a directory, which is made where it is missing.
  ///
  /// Throws when that cannot be, or when the file is damaged: to begin anew could lose messages, and is for a person to
  /// decide.
  init(in folder: String) throws(PushError) {
    self.folder = folder
    try Self.make(folder)
    lock = try Self.lock(folder)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw Self.refusal("read", path, errno) }
      return
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size <= 1 << 20 else {
      throw Self.refusal("read", path, EFBIG)
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw Self.refusal("read", path, errno) }
    do {
      places = try [String: String](jsonText: Array(bytes[..<count]))
    } catch {
      throw PushError(
        .damaged, "cannot read \(path): it is damaged; remove it to begin with the messages from now on")
    }
  }

  deinit { close(lock) }

  /// Where a source goes on; nil if it has not begun.
  subscript(name: String) -> String? { places[name] }

  /// Remembers where a source goes on, and writes it to the disk in one step.
  ///
  /// Throws when it cannot be written; it is known until the end of the process all the same.
  func remember(_ place: String?, of name: String) throws(PushError) {
    guard places[name] != place else { return }
    places[name] = place
    try write(places)
  }

  /// Forgets all sources but these, or none of them if that cannot be written.
  func keep(_ names: some Sequence<String>) throws(PushError) {
    let names = Set(names)
    guard !names.isSuperset(of: places.keys) else { return }
    let kept = places.filter { names.contains($0.key) }
    try write(kept)
    places = kept
  }

  /// Has what is remembered outlive a loss of power as well.
  ///
  /// Where streams go on need not: an id that is older brings messages that the daemon knows.
  func settle() throws(PushError) {
    // Some file systems have nothing to do for that and say EINVAL (fsync(2)).
    guard fsync(lock) == 0 || errno == EINVAL else { throw Self.refusal("write", folder, errno) }
  }

  private func write(_ places: [String: String]) throws(PushError) {
    let bytes: [UInt8]
    do {
      bytes = try places.jsonBytes()
    } catch {
      throw PushError(.software, "cannot write \(path): \(error)")
    }
    let new = "\(path).new"
    // 0600: the ids are nobody else's business.
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.refusal("write", new, errno) }
    defer { close(descriptor) }
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count else { throw Self.refusal("write", new, count < 0 ? errno : ENOSPC) }
    guard fdatasync(descriptor) == 0, rename(new, path) == 0 else { throw Self.refusal("write", path, errno) }
  }

  /// Keeps others away: two who are the same to a broker would throw each other out.
  private static func lock(_ folder: String) throws(PushError) -> Int32 {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw refusal("open", folder, errno) }
    guard linux_lock_now(descriptor) == 0 else {
      close(descriptor)
      throw PushError(
        .temporary,
        "cannot work in \(folder): another refresh-push does; stop it, or give another directory with --state")
    }
    return descriptor
  }

  private static func make(_ folder: String) throws(PushError) {
    if mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else {
      throw refusal("make", folder, errno)
    }
    try make(String(folder[..<slash]))
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw refusal("make", folder, errno) }
  }

  private static func refusal(_ what: String, _ path: String, _ code: Int32) -> PushError {
    PushError(
      .cannotCreate,
      "cannot \(what) \(path): \(String(cString: strerror(code))); let user \(geteuid()) write there, or give another "
        + "directory with --state")
  }
}
