import CLinux
import Glibc

/// A number that identifies a part file, also against a later file with the same name and inode number.
///
/// The mark is a random number in an extended attribute (xattr(7)), which the file keeps when it is renamed to its target.
/// On file systems without extended attributes, the mark is made from the inode number and the birth time.
struct PartMark: Hashable, Sendable {
  let number: Int64

  /// Marks a new file; throws when the disk has no room for the mark.
  init(on descriptor: Int32) throws(TaskFailure) {
    var number = Int64.random(in: .min ... .max)
    guard fsetxattr(descriptor, Self.name, &number, MemoryLayout.size(ofValue: number), 0) != 0 else {
      self.number = number
      return
    }
    if errno == ENOSPC || errno == EDQUOT { throw TaskFailure(errno: errno, "mark", "a new file") }
    self.number = Self.ofInode(descriptor)
  }

  /// Reads the mark of a file; nil if the file has none although the file system supports it.
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
    // Birth times use the lower bits, so the multiplication spreads the inode number over the upper ones.
    return Int64(bitPattern: UInt64(status.st_ino) &* 0x9e37_79b9_7f4a_7c15) ^ Int64(linux_birth(descriptor))
  }
}
