import Glibc
import RefreshEngine
import Systemd

/// Whether processes wait for the processor, for memory or for a disk (Documentation/accounting/psi.rst).
///
/// The kernel sends an event when they have waited for more than ``stall`` of a ``window``; nothing is polled. It sends
/// at most one event a window, so the pressure is over after two windows without an event.
final class PressureTracker: FactTracker {
  /// The microseconds over which the kernel adds the waiting up; any process may use a multiple of 2 s (Linux 6.4).
  static let window: Int64 = 2_000_000
  /// The microseconds of waiting within a window that count as pressure: 15 %, as in the kernel's documentation.
  static let stall: Int64 = 300_000
  static let name = "PSI"

  private let onChange: () -> Void
  private var answer: ConditionAnswer<Bool>

  private var triggers: [PressureTrigger] = []
  private var end: TimerSource?

  static func observation(_ reading: Reading<Bool>) -> Observation { .pressure(reading) }

  init(in context: TrackerContext, onChange: @escaping () -> Void) throws(SystemdError) {
    (self.onChange, answer) = (onChange, .awaited)
    end = try context.loop.timer { [unowned self] in set(false) }
    var problems: [String] = []
    for resource in ["cpu", "memory", "io"] {
      do throws(SystemdError) {
        let path = "\(context.settings.pressure)/\(resource)"
        triggers.append(try PressureTrigger(path, on: context.loop) { [unowned self] in fired() })
      } catch {
        problems.append(error.description)
      }
    }
    if triggers.isEmpty {
      answer = .silent(problems.first ?? "the kernel reports no pressure")
    } else {
      answer = .known(false, without: problems.first)
    }
  }

  deinit { end?.cancel() }

  var sources: [ConditionSource<Bool>] { [ConditionSource(Self.name, answer)] }

  private func fired() {
    end?.arm(at: EventLoop.bootMicroseconds() + 2 * Self.window, accuracy: Self.window / 2)
    set(true)
  }

  private func set(_ isUnderPressure: Bool) {
    guard case .known(let before, let missing) = answer, before != isUnderPressure else { return }
    answer = .known(isUnderPressure, without: missing)
    onChange()
  }
}

/// A trigger of the kernel, which lasts as long as its descriptor is open.
private final class PressureTrigger {
  private let descriptor: Int32
  private var source: UrgentSource?

  init(_ path: String, on loop: EventLoop, handler: @escaping () -> Void) throws(SystemdError) {
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    let text = "some \(PressureTracker.stall) \(PressureTracker.window)"
    guard descriptor >= 0, write(descriptor, text, text.utf8.count + 1) > 0 else { throw Self.error(path) }
    source = try loop.watchUrgent(descriptor, handler: handler)
  }

  deinit {
    source?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }

  private static func error(_ path: String) -> SystemdError {
    let code = errno
    let remedy =
      switch code {
      case EPERM, EACCES, EINVAL: "Before Linux 6.4 that takes CAP_SYS_RESOURCE."
      case ENOENT, EOPNOTSUPP: "The kernel must have CONFIG_PSI, and psi=1 on its command line if it is off."
      default: ""
      }
    return SystemdError(cannot: "watch \(path)", code: code, remedy: remedy)
  }
}
