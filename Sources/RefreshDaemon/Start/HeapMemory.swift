import CLinux
import Glibc

/// Keeps the memory of a daemon small that idles for weeks.
enum HeapMemory {
  /// Makes all threads share one compact heap (mallopt(3)); must be called before the first thread starts.
  ///
  /// Otherwise each thread would have its own heap. The configuration's thread makes the apps, which live as long as the
  /// daemon, so that its heap would stay, full of holes.
  static func makeCompact() { linux_malloc_compact() }

  /// Returns free heap to the system (malloc_trim(3)), also between blocks in use.
  static func trim() { linux_malloc_trim() }

  /// Returns memory after a start or a reload, because a daemon then idles for weeks.
  ///
  /// Free heap goes to the system. Code is unmapped (madvise(2), `MADV_DONTNEED`) where it is executable and never written,
  /// so that nothing is lost. The few pages that an idle daemon needs come back from the page cache; the parser, the
  /// migrations and other unused code stay away.
  static func giveBack() {
    trim()
    // All lines are read first: reading takes code that would come back at once.
    for code in mappedCode() { madvise(UnsafeMutableRawPointer(bitPattern: code.start), code.length, MADV_DONTNEED) }
  }

  /// The memory that has code of files, by /proc/self/maps.
  private static func mappedCode() -> [(start: UInt, length: Int)] {
    guard let maps = fopen("/proc/self/maps", "re") else { return [] }
    defer { fclose(maps) }
    var code: [(start: UInt, length: Int)] = []
    var line: UnsafeMutablePointer<CChar>?
    var room = 0
    defer { free(line) }
    while getline(&line, &room, maps) > 0, let line {
      let fields = String(cString: line).split(separator: " ", maxSplits: 2)
      let bounds = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
      guard fields.count == 3, fields[1] == "r-xp", fields[2].contains("/"), bounds.count == 2 else { continue }
      code.append((bounds[0], Int(bounds[1] - bounds[0])))
    }
    return code
  }
}
