import Systemd

/// The signals of systemd-logind before and after sleep and before shutdown.
///
/// See `PrepareForSleep` and `PrepareForShutdown` in org.freedesktop.login1(5).
final class SleepSignals {
  /// Called with true before the machine sleeps, and with false when it is awake again.
  var onSleep: (Bool) -> Void = { _ in }
  /// Called with true before the machine is switched off, and with false if the shutdown is cancelled.
  var onShutdown: (Bool) -> Void = { _ in }

  private var listeners: [BusListener] = []
  private var watch: BusWatch?
  private var isAsleep = false

  init(on bus: Bus) {
    listeners = [
      bus.listen(to: Logind.signal("PrepareForSleep")) { [unowned self] in
        if let begins = $0.first?.boolean { report(begins) }
      },
      // A logind that has stopped cannot report that the machine is awake.
      bus.listen(to: .ownerChanged(of: Logind.service)) { [unowned self] _ in report(false) },
      bus.listen(to: Logind.signal("PrepareForShutdown")) { [unowned self] in
        if let begins = $0.first?.boolean { onShutdown(begins) }
      },
    ]
    watch = bus.watch { [unowned self] state in if state != .connected { report(false) } }
  }

  private func report(_ isAsleep: Bool) {
    guard isAsleep != self.isAsleep else { return }
    self.isAsleep = isAsleep
    onSleep(isAsleep)
  }
}
