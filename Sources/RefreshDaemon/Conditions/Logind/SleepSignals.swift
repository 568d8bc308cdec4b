import Systemd

/// The signals of systemd-logind before and after sleep: `PrepareForSleep` in org.freedesktop.login1(5).
final class SleepSignals {
  private let onSleep: (Bool) -> Void
  private var listeners: [BusListener] = []
  private var watch: BusWatch?
  private var isAsleep = false

  /// Starts to listen; calls `onSleep` with true before the machine sleeps, and with false when it is awake again.
  init(on bus: Bus, onSleep: @escaping (Bool) -> Void) {
    self.onSleep = onSleep
    listeners = [
      bus.listen(to: Logind.signal("PrepareForSleep")) { [unowned self] in
        if let begins = $0.first?.boolean { report(begins) }
      },
      // A logind that has stopped cannot report that the machine is awake.
      bus.listen(to: .ownerChanged(of: Logind.service)) { [unowned self] _ in report(false) },
    ]
    watch = bus.watch { [unowned self] state in if state != .connected { report(false) } }
  }

  private func report(_ isAsleep: Bool) {
    guard isAsleep != self.isAsleep else { return }
    self.isAsleep = isAsleep
    onSleep(isAsleep)
  }
}
