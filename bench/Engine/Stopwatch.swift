import CLinux
import Glibc

/// How long steps of one kind took, in microseconds of this thread's processor time.
///
/// Processor time, because the machine is shared: what a neighbour takes is not the engine's.
struct Stopwatch {
  private var taken: [Double] = []

  /// Does a step, and takes its time.
  mutating func time<Result>(_ step: () -> Result) -> Result {
    let begin = Self.now
    let result = step()
    taken.append(Self.now - begin)
    return result
  }

  /// Adds a time that was taken elsewhere.
  mutating func add(_ microseconds: Double) { taken.append(microseconds) }

  /// How many steps were timed.
  var count: Int { taken.count }
  /// The time of all samples together.
  var total: Double { taken.reduce(0, +) }

  /// The least time that is not exceeded by a share of the steps; 0 without any.
  func quantile(_ share: Double) -> Double {
    guard !taken.isEmpty else { return 0 }
    return taken.sorted()[max(0, Int((Double(taken.count) * share).rounded(.up)) - 1)]
  }

  /// Processor time of this thread, microseconds.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}

/// The memory of this process that is in use, in bytes, when what is free was given back (malloc_trim(3)).
func residentBytes() -> Int {
  linux_malloc_trim()
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 128)
  guard fgets(&line, 128, file) != nil else { return 0 }
  let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * sysconf(Int32(_SC_PAGESIZE))
}
