import Systemd

/// What systemd-logind says before the machine sleeps or is switched off, and when it is awake again
/// (org.freedesktop.login1(5), `PrepareForSleep` and `PrepareForShutdown`; FEATURES A12).
final class SleepSignals {
  /// Called with true before the machine sleeps, and with false when it is awake again.
  var onSleep: (Bool) -> Void = { _ in }
  /// Called with true before the machine is switched off, and with false if that was called off.
  var onShutdown: (Bool) -> Void = { _ in }

  private var listeners: [BusListener] = []
  private var watch: BusWatch?
  private var isAsleep = false

  init(on bus: Bus) {
    listeners = [
      bus.listen(to: Logind.signal("PrepareForSleep")) { [unowned self] in
        if let begins = $0.first?.boolean { tell(begins) }
      },
      // A logind that is gone cannot say that the machine is awake.
      bus.listen(to: .ownerChanged(of: Logind.service)) { [unowned self] _ in tell(false) },
      bus.listen(to: Logind.signal("PrepareForShutdown")) { [unowned self] in
        if let begins = $0.first?.boolean { onShutdown(begins) }
      },
    ]
    watch = bus.watch { [unowned self] state in if state != .connected { tell(false) } }
  }

  private func tell(_ isAsleep: Bool) {
    guard isAsleep != self.isAsleep else { return }
    self.isAsleep = isAsleep
    onSleep(isAsleep)
  }
}
