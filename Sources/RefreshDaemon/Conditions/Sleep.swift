import Systemd

/// A lock of systemd-logind that delays sleep for a few seconds (systemd-inhibit(1), mode `delay`).
///
/// logind waits at most `InhibitDelayMaxSec=`, 5 s by default, for all locks together. Without logind, or if it refuses
/// the lock to this user, the machine sleeps at once; this is no error.
final class SleepLock {
  private enum State {
    case released
    case asked
    case held(BusDescriptor)
  }

  /// How long before logind's timeout the lock is given back, in microseconds.
  static let margin: Int64 = 500_000
  /// The default of `InhibitDelayMaxSec=` (logind.conf(5)), in microseconds.
  private static let usualDelay: Int64 = 5_000_000

  private let bus: Bus
  private let calls: DescriptorCalls
  /// Counts the requests; the answer to an earlier one is dropped, and its lock with it.
  private var requests = 0
  private var watch: BusWatch?
  private var isWanted = false
  private var state = State.released
  private var delayCall: BusCall?
  /// How long logind waits for locks, in microseconds.
  private(set) var delay = SleepLock.usualDelay

  init(on bus: Bus) throws(SystemdError) {
    self.bus = bus
    calls = try DescriptorCalls(bus.address, on: bus.loop)
    // The caller may want the lock before the bus is there, or while it is away.
    watch = bus.watch { [unowned self] state in
      if state == .connected, isWanted, case .released = self.state { acquire() }
    }
  }

  /// Takes the lock or gives it back.
  func set(_ isWanted: Bool) {
    self.isWanted = isWanted
    switch (isWanted, state) {
    case (true, .released): acquire()
    case (false, .asked), (false, .held): state = .released
    case (true, _), (false, .released): break
    }
  }

  private func acquire() {
    guard bus.state == .connected else { return }
    var method = Logind.call("Inhibit")
    method.arguments = ["sleep", "refreshd", "Apps are being refreshed", "delay"].map { .string($0) }
    requests += 1
    let request = requests
    state = .asked
    calls.call(method, timeout: Bus.patience) { [unowned self] answer in
      guard case .asked = state, request == requests else { return }
      guard case .success(let values) = answer, case .descriptor(let lock)? = values.first else {
        state = .released
        return
      }
      state = .held(lock)
    }
    askDelay()
  }

  /// Asks how long logind waits, because the administrator may have changed the setting.
  private func askDelay() {
    let method = BusMethod.get(
      "InhibitDelayMaxUSec", of: Logind.interface, at: Logind.path, in: Logind.service)
    delayCall = bus.call(method) { [unowned self] answer in
      if case .success(let values) = answer, let delay = values.first?.integer { self.delay = Int64(delay) }
    }
  }
}

/// The signals of systemd-logind before and after sleep: `PrepareForSleep` in org.freedesktop.login1(5).
final class SleepSignals {
  private let onSleep: (Bool) -> Void
  private var listeners: [BusListener] = []
  private var watch: BusWatch?
  private var isAsleep = false

  /// Starts to listen; calls `onSleep` with true before the machine sleeps, and with false when it is awake again.
  init(on bus: Bus, onSleep: @escaping (Bool) -> Void) {
    self.onSleep = onSleep
    let report = { [unowned self] in self.report($0) }
    listeners = [
      bus.listen(to: Logind.signal("PrepareForSleep")) { if let begins = $0.first?.boolean { report(begins) } },
      // A logind that has stopped cannot report that the machine is awake.
      bus.listen(to: .ownerChanged(of: Logind.service)) { _ in report(false) },
    ]
    watch = bus.watch { if $0 != .connected { report(false) } }
  }

  private func report(_ isAsleep: Bool) {
    guard isAsleep != self.isAsleep else { return }
    self.isAsleep = isAsleep
    onSleep(isAsleep)
  }
}
