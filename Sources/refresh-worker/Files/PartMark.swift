import CLinux
import Glibc

/// What tells a part from every other file, also from a later one of the same name and inode number.
///
/// It is a random number in an extended attribute (xattr(7)), which stays with the file when it takes the name of its
/// target. Where the file system has none, the number of the inode and the time when it was made do, which are another
/// file's only if both are the same.
struct PartMark: Hashable, Sendable {
  let number: Int64

  /// Marks a new file.
  ///
  /// Throws when there is no room for the mark.
  init(on descriptor: Int32) throws(Trouble) {
    var number = Int64.random(in: .min ... .max)
    guard fsetxattr(descriptor, Self.name, &number, MemoryLayout.size(ofValue: number), 0) != 0 else {
      self.number = number
      return
    }
    if errno == ENOSPC || errno == EDQUOT { throw Trouble(errno: errno, "mark", "a new file") }
    self.number = Self.ofInode(descriptor)
  }

  /// Reads the mark of a file; nil if it has none although it could.
  init?(of descriptor: Int32) {
    var number: Int64 = 0
    let count = fgetxattr(descriptor, Self.name, &number, MemoryLayout.size(ofValue: number))
    if count == MemoryLayout.size(ofValue: number) {
      self.number = number
    } else if count < 0, errno == ENOTSUP {
      self.number = Self.ofInode(descriptor)
    } else {
      return nil
    }
  }

  private static let name = "user.refreshd.part"

  private static func ofInode(_ descriptor: Int32) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return 0 }
    // The nanoseconds of a lifetime leave the upper bits to the inode.
    return Int64(bitPattern: UInt64(status.st_ino) &* 0x9e37_79b9_7f4a_7c15) ^ Int64(linux_birth(descriptor))
  }
}
