import CLinux
import Glibc

/// The memory of a daemon that idles for weeks.
enum HeapMemory {
  /// Has all threads share one compact heap (mallopt(3)); call it before the first thread starts.
  ///
  /// Each thread would have a heap of its own. The configuration's thread makes the apps, which live as long as the daemon,
  /// so its heap would stay, full of holes.
  static func makeCompact() { linux_malloc_compact() }

  /// Gives free heap back to the system (malloc_trim(3)), also between blocks that are in use.
  static func trim() { linux_malloc_trim() }

  /// Gives memory back after a start or a reload, because a daemon then idles for weeks.
  ///
  /// Free heap goes to the system. Code is unmapped (madvise(2), `MADV_DONTNEED`) where it is executable
  /// and never written, so that nothing is lost. The few pages that an idle daemon runs on come back from the page cache;
  /// the parser, the migrations and the like stay away.
  static func giveBack() {
    trim()
    guard let maps = fopen("/proc/self/maps", "re") else { return }
    defer { fclose(maps) }
    var line: UnsafeMutablePointer<CChar>?
    var room = 0
    defer { free(line) }
    while getline(&line, &room, maps) > 0, let line {
      let fields = String(cString: line).split(separator: " ", maxSplits: 2)
      let bounds = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
      guard fields.count == 3, fields[1] == "r-xp", fields[2].contains("/"), bounds.count == 2 else { continue }
      madvise(UnsafeMutableRawPointer(bitPattern: bounds[0]), Int(bounds[1] - bounds[0]), MADV_DONTNEED)
    }
  }
}
