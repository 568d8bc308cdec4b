import Systemd

/// What systemd-logind says before the machine sleeps or is switched off, and when it is awake again
/// (org.freedesktop.login1(5), `PrepareForSleep` and `PrepareForShutdown`; FEATURES A12).
final class SleepSignals {
  /// Called with true before the machine sleeps, and with false when it is awake again.
  var onSleep: (Bool) -> Void = { _ in }
  /// Called with true before the machine is switched off, and with false if that was called off.
  var onShutdown: (Bool) -> Void = { _ in }

  private var listeners: [BusListener] = []

  init(on bus: Bus) {
    listeners = [
      bus.listen(to: Logind.signal("PrepareForSleep")) { [unowned self] in
        if let begins = $0.first?.boolean { onSleep(begins) }
      },
      bus.listen(to: Logind.signal("PrepareForShutdown")) { [unowned self] in
        if let begins = $0.first?.boolean { onShutdown(begins) }
      },
    ]
  }
}
