import CLinux
@preconcurrency import Glibc

/// The signals that the live screen handles in its loop, so that none comes while the terminal is half drawn.
struct TopSignals {
  static let ends: Set<Int32> = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// The descriptors that are readable after a signal (signalfd(2)).
  private let descriptors: [Int32: Int32]

  init() throws(Failure) {
    var descriptors: [Int32: Int32] = [:]
    for signal in Self.ends.union([SIGTSTP, SIGCONT, SIGWINCH]) {
      let descriptor = linux_signal_descriptor(signal)
      guard descriptor >= 0 else {
        throw Failure(
          status: .failed,
          text: "cannot wait for signals: \(errorText(errno)); raise the limit of open files (`ulimit -n`)")
      }
      descriptors[descriptor] = signal
    }
    self.descriptors = descriptors
  }

  var all: [Int32] { Array(descriptors.keys) }

  /// The signal of a descriptor that is readable, which is then taken; nil for another descriptor.
  func taken(from descriptor: Int32) -> Int32? {
    guard let signal = descriptors[descriptor] else { return nil }
    var information = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    return read(descriptor, &information, size) == size ? signal : nil
  }

  /// Does what a signal does to a program that does not handle it: ends this one, or stops it until SIGCONT.
  static func obey(_ number: Int32) {
    var (set, before) = (sigset_t(), sigset_t())
    sigemptyset(&set)
    sigaddset(&set, number)
    // A shell that starts it in the background, and nohup(1), leave signals ignored.
    if ends.contains(number) { signal(number, SIG_DFL) }
    raise(number)
    sigprocmask(SIG_UNBLOCK, &set, &before)
    sigprocmask(SIG_SETMASK, &before, nil)
  }
}
