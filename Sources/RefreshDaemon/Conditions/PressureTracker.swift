import Glibc
import RefreshEngine
import Systemd

/// Whether processes wait for the processor, for memory or for a disk (FEATURES D3; Documentation/accounting/psi.rst).
///
/// The kernel tells when they have waited for more than ``stall`` of a ``window``; nothing is polled. It tells once a
/// window, so the pressure is over when it has been silent for two.
final class PressureTracker: FactTracker {
  /// In how many microseconds the kernel adds the waiting up; any process may ask for a multiple of 2 s (Linux 6.4).
  static let window: Int64 = 2_000_000
  /// How many microseconds of waiting within a window are pressure: 15 %, the documentation's own example.
  static let stall: Int64 = 300_000
  static let name = "PSI"

  /// Called after every change of what the kernel says.
  var onChange: () -> Void = {}
  /// What the kernel says.
  private(set) var testimony: Testimony<Bool>

  private var triggers: [Trigger] = []
  private var end: TimerSource?

  /// Begins to watch; `directory` is where the kernel tells of pressure, `/proc/pressure`.
  init(on loop: EventLoop, directory: String) throws(SystemdError) {
    testimony = .awaited
    end = try loop.timer { [unowned self] in set(false) }
    var problems: [String] = []
    for resource in ["cpu", "memory", "io"] {
      do {
        triggers.append(try Trigger("\(directory)/\(resource)", on: loop) { [unowned self] in fired() })
      } catch {
        problems.append("\(error)")
      }
    }
    if triggers.isEmpty {
      testimony = .silent(problems.first ?? "there is no pressure to watch")
    } else {
      testimony = .known(false, without: problems.first)
    }
  }

  deinit { end?.cancel() }

  /// Who is asked, and what it says.
  var witnesses: [Witness<Bool>] { [Witness(Self.name, testimony)] }

  private func fired() {
    end?.arm(at: EventLoop.bootMicroseconds() + 2 * Self.window, accuracy: Self.window / 2)
    set(true)
  }

  private func set(_ isUnderPressure: Bool) {
    guard case .known(let before, let missing) = testimony, before != isUnderPressure else { return }
    testimony = .known(isUnderPressure, without: missing)
    onChange()
  }
}

/// A trigger of the kernel's, which lasts as long as its descriptor.
private final class Trigger {
  private let descriptor: Int32
  private var source: UrgentSource?

  init(_ path: String, on loop: EventLoop, handler: @escaping () -> Void) throws {
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.error(path) }
    let text = "some \(PressureTracker.stall) \(PressureTracker.window)"
    guard text.withCString({ write(descriptor, $0, text.utf8.count + 1) }) > 0 else {
      let error = Self.error(path)
      close(descriptor)
      throw error
    }
    do throws(SystemdError) {
      source = try loop.watchUrgent(descriptor, handler: handler)
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    source?.cancel()
    close(descriptor)
  }

  private static func error(_ path: String) -> SystemdError {
    let code = errno
    let remedy =
      switch code {
      case EPERM, EACCES, EINVAL: "Before Linux 6.4 that takes CAP_SYS_RESOURCE."
      case ENOENT, EOPNOTSUPP: "The kernel must have CONFIG_PSI, and psi=1 on its command line where it is off."
      default: ""
      }
    return SystemdError(cannot: "watch \(path)", code: code, remedy: remedy)
  }
}
