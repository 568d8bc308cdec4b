import CLinux
@preconcurrency import Glibc

/// The signals that the live screen handles in its loop, so that none interrupts a half-drawn frame.
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

  /// Takes the signal of a readable descriptor; nil for any other descriptor.
  func taken(from descriptor: Int32) -> Int32? {
    guard let signal = descriptors[descriptor] else { return nil }
    var information = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    return read(descriptor, &information, size) == size ? signal : nil
  }

  /// Applies the default effect of a signal: ends this program, or stops it until SIGCONT.
  static func obey(_ number: Int32) {
    var (set, before) = (sigset_t(), sigset_t())
    sigemptyset(&set)
    sigaddset(&set, number)
    // nohup(1), or a shell that starts the program in the background, may have set signals to be ignored.
    if ends.contains(number) { signal(number, SIG_DFL) }
    raise(number)
    sigprocmask(SIG_UNBLOCK, &set, &before)
    sigprocmask(SIG_SETMASK, &before, nil)
  }
}
