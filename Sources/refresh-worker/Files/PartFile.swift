import CLinux
import Glibc

/// The file `NAME.part` beside a target, which holds what has come of it and is locked as long as it is open.
///
/// The ``Disk`` gives it the name of the target once it is whole.
final class PartFile {
  let folder: Folder
  /// The name of the target.
  let name: String
  let descriptor: Int32
  /// Tells it from another file of the same name.
  let inode: UInt64
  /// How many bytes it has.
  private(set) var length: Int64

  /// Opens it, or makes it where there is none.
  ///
  /// What is there and is no plain file of the caller with one name is removed. Throws `retry` when another process
  /// writes it.
  init(in folder: Folder, for name: String) throws(Trouble) {
    self.folder = folder
    self.name = name
    let opened = try Self.open(in: folder, for: name)
    descriptor = opened.descriptor
    inode = opened.inode
    length = opened.length
  }

  deinit { close(descriptor) }

  /// The path of the target.
  var path: String { "\(folder.path)/\(name)" }

  /// Appends all of the bytes; `needed` is how many more there will be, if that is known.
  func append(_ bytes: UnsafeRawBufferPointer, needed: Int64?) throws(Trouble) {
    var rest = bytes
    while !rest.isEmpty {
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(length))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw Trouble(errno: errno, "write", path + Self.suffix, needed: needed ?? Self.leastRoom)
      }
      length += Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Keeps the first bytes and drops the rest.
  func truncate(to count: Int64) throws(Trouble) {
    guard count < length else { return }
    guard ftruncate(descriptor, off_t(count)) == 0 else { throw Trouble(errno: errno, "empty", path + Self.suffix) }
    length = count
  }

  /// Gives it the name of the target, in the place of what is there; durable only once the folder is.
  func takePlace() throws(Trouble) {
    guard renameat(folder.descriptor, name + Self.suffix, folder.descriptor, name) == 0 else {
      throw Trouble(errno: errno, "replace", path)
    }
  }

  /// Removes it, and with it all that has come.
  func remove() {
    unlinkat(folder.descriptor, name + Self.suffix, 0)
  }

  static let suffix = ".part"
  /// What is asked for where it is not known how much is to come.
  private static let leastRoom: Int64 = 16 << 20

  private static func open(
    in folder: Folder, for name: String
  ) throws(Trouble) -> (descriptor: Int32, inode: UInt64, length: Int64) {
    let part = name + suffix
    // Again when what was there is removed, by us or by another who has just finished with it.
    for _ in 0..<3 {
      let descriptor = linux_open_at(folder.descriptor, part, O_RDWR | O_CREAT, 0o666)
      var status = stat()
      if descriptor >= 0, fstat(descriptor, &status) == 0, isOurs(status) {
        guard linux_lock_now(descriptor) == 0 || errno != EWOULDBLOCK else {
          close(descriptor)
          throw Trouble(.retry(after: .seconds(1)), "cannot write \(folder.path)/\(part): another process writes it")
        }
        var named = stat()
        if fstatat(folder.descriptor, part, &named, AT_SYMLINK_NOFOLLOW) == 0, named.st_ino == status.st_ino,
          named.st_dev == status.st_dev, fstat(descriptor, &status) == 0
        {
          return (descriptor, UInt64(status.st_ino), Int64(status.st_size))
        }
        close(descriptor)
        continue
      }
      let code = errno
      if descriptor >= 0 { close(descriptor) }
      // A link, a pipe, a file of another or with another name: nothing is ever written through it.
      guard descriptor >= 0 || code == ELOOP || code == ENXIO else {
        throw Trouble(errno: code, "write", "\(folder.path)/\(part)")
      }
      guard unlinkat(folder.descriptor, part, 0) == 0 || errno == ENOENT else {
        throw Trouble(errno: errno, "replace", "\(folder.path)/\(part)")
      }
    }
    throw Trouble(.retry(after: .seconds(1)), "cannot write \(folder.path)/\(part): another process replaces it")
  }

  private static func isOurs(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_nlink == 1
  }
}
