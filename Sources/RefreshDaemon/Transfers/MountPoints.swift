/// The mounted file systems, which tell folders of different disks apart without reading a disk.
struct MountPoints {
  /// The mount points; each path ends with a slash.
  private let points: [String]

  /// The file systems in this process's present view.
  static func current() -> MountPoints { MountPoints(SmallFiles.text(of: "/proc/self/mountinfo") ?? "") }

  /// Reads the table of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
  init(_ table: String) {
    points = table.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ", maxSplits: 5)
      guard fields.count > 4 else { return nil }
      let path = Self.unescaped(fields[4])
      return path.hasSuffix("/") ? path : path + "/"
    }
  }

  /// The mount point of the file system of a folder, by its path alone.
  func point(of folder: String) -> String {
    let folder = folder + "/"
    return points.filter { folder.hasPrefix($0) }.max { $0.utf8.count < $1.utf8.count } ?? "/"
  }

  /// Decodes a path: the kernel writes a space, a tab, a line break and a backslash as three octal digits.
  static func unescaped(_ text: Substring) -> String {
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(3), as: UTF8.self)
      if byte == UInt8(ascii: "\\"), digits.utf8.count == 3, let escaped = UInt8(digits, radix: 8) {
        bytes.append(escaped)
        rest.removeFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
