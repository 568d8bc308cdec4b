import Systemd

/// A lock of systemd-logind that holds the machine's sleep up for a few seconds (`systemd-inhibit(1)`, mode `delay`;
/// FEATURES B9).
///
/// logind waits for `InhibitDelayMaxSec=` at most, 5 s by default, however many locks there are. Where there is no
/// logind, or it gives no lock to this user, the machine sleeps at once: that is no error.
final class SleepLock {
  private enum State {
    case released
    case asked(BusCall)
    case held(BusDescriptor)
  }

  /// How long before the end of logind's patience the lock is given back, in microseconds.
  static let margin: Int64 = 500_000
  /// What logind waits unless it says otherwise (logind.conf(5)), in microseconds.
  private static let usualDelay: Int64 = 5_000_000

  private let bus: Bus
  private var watch: BusWatch?
  private var isWanted = false
  private var state = State.released
  private var question: BusCall?
  /// How long logind waits for locks, in microseconds.
  private(set) var delay = SleepLock.usualDelay

  init(on bus: Bus) {
    self.bus = bus
    // It may be wanted before the bus is there, or while it is gone.
    watch = bus.watch { [unowned self] state in
      if state == .connected, isWanted, case .released = self.state { take() }
    }
  }

  /// Takes the lock, or gives it back; does nothing when that is so already.
  func set(_ isWanted: Bool) {
    self.isWanted = isWanted
    switch (isWanted, state) {
    case (true, .released): take()
    case (false, .asked), (false, .held): state = .released
    case (true, _), (false, .released): break
    }
  }

  private func take() {
    guard bus.state == .connected else { return }
    var method = Logind.call("Inhibit")
    method.arguments = ["sleep", "refreshd", "Apps are being refreshed", "delay"].map { .string($0) }
    var isAnswered = false
    let call = bus.call(method) { [unowned self] answer in
      isAnswered = true
      guard case .success(let values) = answer, case .descriptor(let lock)? = values.first else {
        state = .released
        return
      }
      state = .held(lock)
    }
    // What cannot be sent has failed by now.
    if !isAnswered { state = .asked(call) }
    askDelay()
  }

  /// Asks how long logind waits: the administrator may have changed it.
  private func askDelay() {
    let method = BusMethod.get(
      "InhibitDelayMaxUSec", of: Logind.interface, at: Logind.path, in: Logind.service)
    question = bus.call(method) { [unowned self] answer in
      if case .success(let values) = answer, let delay = values.first?.integer { self.delay = Int64(delay) }
    }
  }
}
