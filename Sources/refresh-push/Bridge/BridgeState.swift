import CLinux
import Glibc
import JSON
import RefreshAPI

/// The position of each source, in a file of the state directory: the id of the last stored message, or the session
/// with a broker.
///
/// An id is written only after the daemon has stored the messages up to it. After a crash a message may be delivered
/// twice, and the daemon recognizes it by its id. The file holds no secrets, topics or payloads.
@MainActor
final class BridgeState {
  private let folder: String
  private let lock: Int32
  private var path: String { "\(folder)/sources.json" }
  private var positions: [String: String] = [:]

  /// Reads the positions in a directory, which is created if it is missing.
  ///
  /// Throws if the directory cannot be used, or if the file is damaged. Starting over could lose messages, so that is a
  /// person's decision.
  init(in folder: String) throws(ServiceError) {
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
      positions = try [String: String](jsonText: Array(bytes[..<count]))
    } catch {
      throw ServiceError(
        .damaged, "cannot read \(path): it is damaged; remove it to start with new messages only")
    }
  }

  deinit { close(lock) }

  /// The position of a source; nil if it has none yet.
  subscript(name: String) -> String? { positions[name] }

  /// Stores the position of a source, and replaces the file on disk atomically.
  ///
  /// Throws if the file cannot be written. The position holds in memory all the same.
  func remember(_ position: String?, of name: String) throws(ServiceError) {
    guard positions[name] != position else { return }
    positions[name] = position
    try write(positions)
  }

  /// Removes the positions of all other sources; removes none if the file cannot be written.
  func keep(_ names: some Sequence<String>) throws(ServiceError) {
    let names = Set(names)
    guard !names.isSuperset(of: positions.keys) else { return }
    let kept = positions.filter { names.contains($0.key) }
    try write(kept)
    positions = kept
  }

  /// Makes the stored positions survive a loss of power.
  ///
  /// Positions of streams do not need that: an older id repeats messages that the daemon recognizes.
  func sync() throws(ServiceError) {
    // Some file systems cannot sync a directory and return EINVAL (fsync(2)).
    guard fsync(lock) == 0 || errno == EINVAL else { throw Self.refusal("write", folder, errno) }
  }

  private func write(_ positions: [String: String]) throws(ServiceError) {
    let bytes: [UInt8]
    do {
      bytes = try positions.jsonBytes()
    } catch {
      throw ServiceError(.software, "cannot write \(path): \(error)")
    }
    let new = "\(path).new"
    // Only the bridge's own user may read the ids.
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.refusal("write", new, errno) }
    defer { close(descriptor) }
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count else { throw Self.refusal("write", new, count < 0 ? errno : ENOSPC) }
    guard fdatasync(descriptor) == 0, rename(new, path) == 0 else { throw Self.refusal("write", path, errno) }
  }

  /// Locks the directory.
  ///
  /// Two bridges with the same client id would disconnect each other at the broker.
  private static func lock(_ folder: String) throws(ServiceError) -> Int32 {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw refusal("open", folder, errno) }
    guard linux_lock_now(descriptor) == 0 else {
      close(descriptor)
      throw ServiceError(
        .temporary,
        "cannot use \(folder): another refresh-push uses it; stop that one, or give another directory with --state")
    }
    return descriptor
  }

  private static func make(_ folder: String) throws(ServiceError) {
    if mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else {
      throw refusal("make", folder, errno)
    }
    try make(String(folder[..<slash]))
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw refusal("make", folder, errno) }
  }

  private static func refusal(_ what: String, _ path: String, _ code: Int32) -> ServiceError {
    ServiceError(
      .cannotCreate,
      "cannot \(what) \(path): \(String(cString: strerror(code))); let user \(geteuid()) write there, or give another "
        + "directory with --state")
  }
}
