import CLinux
import CZlib
import Glibc

/// A number that identifies a part file, also against a later file with the same name and inode number.
///
/// The mark is a number in an extended attribute (xattr(7)), which the file keeps when it is renamed to its target. Half of
/// it is random, and half stands for the name of the target: a target of a name such as `disk.part` is no part of `disk`.
/// On file systems without extended attributes, the mark is made from the inode number and the birth time, so that every file
/// has one.
struct PartMark: Hashable, Sendable {
  let number: Int64
  /// Whether it is in an extended attribute, so that only files of refreshd have one.
  let isStored: Bool

  /// Marks a new file; throws when the disk has no room for the mark.
  init(on descriptor: Int32, for name: String) throws(TaskFailure) {
    var number = Int64.random(in: .min ... .max) & ~0xffff_ffff | Int64(Self.half(of: name))
    guard fsetxattr(descriptor, Self.name, &number, MemoryLayout.size(ofValue: number), 0) != 0 else {
      (self.number, isStored) = (number, true)
      return
    }
    if errno == ENOSPC || errno == EDQUOT { throw TaskFailure(errno: errno, "mark", "a new file") }
    (self.number, isStored) = (Self.ofInode(descriptor), false)
  }

  /// Reads the mark of a file; nil if the file has none although the file system supports it.
  init?(of descriptor: Int32) {
    var number: Int64 = 0
    let count = fgetxattr(descriptor, Self.name, &number, MemoryLayout.size(ofValue: number))
    if count == MemoryLayout.size(ofValue: number) {
      (self.number, isStored) = (number, true)
    } else if count < 0, errno == ENOTSUP {
      (self.number, isStored) = (Self.ofInode(descriptor), false)
    } else {
      return nil
    }
  }

  /// Whether it is the mark of a part for this target, of whichever transfer.
  func isOfPart(for name: String) -> Bool {
    isStored && UInt32(truncatingIfNeeded: number) == Self.half(of: name)
  }

  /// Removes the mark of a file that is whole and in its place, so that nobody takes it for a part under another name.
  static func remove(from descriptor: Int32) { fremovexattr(descriptor, name) }

  private static let name = "user.refreshd.part"

  /// The half that stands for the name of a target: its CRC-32.
  private static func half(of name: String) -> UInt32 {
    let bytes = Array(name.utf8)
    return UInt32(truncatingIfNeeded: crc32(0, bytes, UInt32(clamping: bytes.count)))
  }

  private static func ofInode(_ descriptor: Int32) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return 0 }
    // Birth times use the lower bits, so the multiplication spreads the inode number over the upper ones.
    return Int64(bitPattern: UInt64(status.st_ino) &* 0x9e37_79b9_7f4a_7c15) ^ Int64(linux_birth(descriptor))
  }
}
