import Glibc
import RefreshAPI
import Systemd

/// The built-in task `activate`: makes an app refresh itself through its owner's session bus, and waits for its end.
enum ActivateTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.ActivationOrder.self) { order, context in
      do throws(SystemdError) {
        guard let failure = try Activation(of: order.app, within: TaskContext.secondsLeft).run() else {
          return EXIT_SUCCESS
        }
        return context.end(TaskResult(failure))
      } catch {
        return context.end(TaskResult(TaskFailure(.retry(after: nil), "\(error)")))
      }
    }
  }
}

/// Activates the action `refresh` of an app on the user's bus, which starts the app if it does not run.
///
/// The worker follows an app that it has started until the app's name leaves the bus. An app that already ran has accepted
/// the order when it answers, and nothing reports the end of its work. The daemon ends this process when the app attaches.
private final class Activation {
  /// The longest wait for the app's answer, including its start, in microseconds: the default of sd-bus(3).
  private static let patience: Int64 = 25_000_000
  /// The longest wait for the bus, in microseconds.
  private static let longestAbsence: Int64 = 10_000_000
  /// The longest time from the answer of an app that already ran to its attachment, in microseconds.
  private static let longestUntilAttached: Int64 = 2_000_000
  /// The time before the deadline at which this process ends at the latest, in seconds.
  private static let lead: Int64 = 5
  /// How often the order is repeated, and how far apart in microseconds: for 2 s in all.
  private static let mostRepeats = 5
  private static let untilRepeat: Int64 = 400_000
  private static let longestDeadline: Int64 = 86_400
  private static let action = "refresh"

  private let name: String
  private let path: String
  private let loop: EventLoop
  private let bus: Bus
  private var isBegun = false
  /// Whether the app already ran, so that its end is unrelated to this order.
  private var ranBefore = false
  private var isAccepted = false
  private var failure: TaskFailure?
  private var listener: BusListener?
  private var watch: BusWatch?
  private var call: BusCall?
  private var timer: TimerSource?
  private var lastMoment: TimerSource?
  private var repeats = 0
  private var repeatTimer: TimerSource?

  /// Prepares the order; `seconds` are left until the deadline of the refresh.
  init(of name: String, within seconds: Int64) throws(SystemdError) {
    self.name = name
    path = BusPath.ofApplication(name)
    loop = try EventLoop()
    bus = try Bus(.user, on: loop)
    lastMoment = try loop.timer { [unowned self] in deadlineIsNear() }
    repeatTimer = try loop.timer { [unowned self] in ask() }
    let left = min(max(seconds, 0), Self.longestDeadline)
    let wait = left - min(Self.lead, left / 4)
    lastMoment?.arm(at: EventLoop.bootMicroseconds() + wait * 1_000_000, accuracy: 100_000)
  }

  /// Makes the app refresh and waits for its end; returns a failure, or nil if the app has accepted the order.
  func run() throws(SystemdError) -> TaskFailure? {
    ShownLines.open()
    timer = try loop.timer { [unowned self] in
      if isAccepted { runsOn() } else { fail("none answers on the \(bus.address.name)") }
    }
    timer?.arm(at: EventLoop.bootMicroseconds() + Self.longestAbsence, accuracy: 1_000_000)
    listener = bus.listen(to: .ownerChanged(of: name)) { [unowned self] values in
      // The reply comes before the end of the app that sent it.
      if isAccepted, values.count == 3, values[2].text?.isEmpty == true { finish(nil) }
    }
    watch = bus.watch { [unowned self] state in
      switch state {
      case .connected: begin()
      case .absent(let reason): fail(reason)
      default: break
      }
    }
    _ = try loop.run()
    return failure
  }

  private func begin() {
    guard !isBegun else { return }
    isBegun = true
    timer?.disarm()
    ask()
  }

  private func ask() {
    let question = BusMethod(
      "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", name: "NameHasOwner",
      arguments: [.string(name)])
    call = bus.call(question, timeout: Self.patience) { [unowned self] answer in
      switch answer {
      case .success(let values):
        ranBefore = values.first?.boolean == true
        listActions()
      case .failure(let error): fail("\(error)")
      }
    }
  }

  /// Lists the app's actions, because an app of GLib ignores an unknown action.
  private func listActions() {
    let question = BusMethod(name, path: path, interface: "org.gtk.Actions", name: "List", startsService: true)
    call = bus.call(question, timeout: Self.patience) { [unowned self] answer in
      switch answer {
      case .success(let values):
        let actions = (values.first?.elements ?? []).compactMap(\.text)
        if actions.contains(Self.action) { return activate() }
        let others =
          actions.isEmpty ? "it has no actions" : "it has \(actions.sorted().prefix(20).joined(separator: ", "))"
        finish(TaskFailure(.failed, "cannot refresh \(name): it has no action \"\(Self.action)\"; \(others)"))
      // Another toolkit has the actions without listing them.
      case .failure(let error) where error.isUnknownHere: activate()
      case .failure(let error): again(after: error)
      }
    }
  }

  private func activate() {
    let order = BusMethod(
      name, path: path, interface: "org.freedesktop.Application", name: "ActivateAction",
      arguments: [.string(Self.action), .array(of: "v", []), .dictionary([])], startsService: true)
    call = bus.call(order, timeout: Self.patience) { [unowned self] answer in
      switch answer {
      case .success:
        isAccepted = true
        guard ranBefore else { return }
        timer?.arm(at: EventLoop.bootMicroseconds() + Self.longestUntilAttached, accuracy: 100_000)
      case .failure(let error): again(after: error)
      }
    }
  }

  /// Repeats the order if the app may just be ending: it has left the bus, or no longer has the object.
  private func again(after error: BusError) {
    guard error.mayBeOfItsEnd, repeats < Self.mostRepeats else { return refused(error) }
    repeats += 1
    repeatTimer?.arm(at: EventLoop.bootMicroseconds() + Self.untilRepeat, accuracy: 10_000)
  }

  private func refused(_ error: BusError) {
    // dbus-broker returns NameHasNoOwner for a known app whose start has failed.
    if error.name == "org.freedesktop.DBus.Error.ServiceUnknown" {
      let remedy = "install it, with its file in dbus-1/services"
      return finish(
        TaskFailure(.failed, "cannot start \(name): the session bus does not know an app of this name; \(remedy)"))
    }
    finish(TaskFailure(error.isUnknownHere ? .failed : .retry(after: nil), "cannot refresh \(name): \(error)"))
  }

  private func deadlineIsNear() {
    guard isAccepted else {
      let remedy = "raise deadline in the app's file if it needs longer to start"
      return finish(TaskFailure(.retry(after: nil), "\(name) did not answer before the deadline; \(remedy)"))
    }
    runsOn()
  }

  private func runsOn() {
    ShownLines.write("\(name) was asked and is still running; nobody knows when its work is done")
    finish(nil)
  }

  private func fail(_ reason: String) {
    let remedy = "it exists while the user is logged in, or lingers (loginctl enable-linger)"
    finish(TaskFailure(.retry(after: nil), "cannot reach \(name): \(reason); \(remedy)"))
  }

  private func finish(_ failure: TaskFailure?) {
    self.failure = failure
    loop.exit(0)
  }
}

extension BusError {
  /// Whether an app that is just ending may have caused it.
  fileprivate var mayBeOfItsEnd: Bool {
    isUnknownHere
      || ["NoReply", "ServiceUnknown", "NameHasNoOwner"].contains { name == "org.freedesktop.DBus.Error.\($0)" }
  }

  /// Whether the service exists but lacks the object, interface or method.
  fileprivate var isUnknownHere: Bool {
    ["UnknownMethod", "UnknownInterface", "UnknownObject"].contains { name == "org.freedesktop.DBus.Error.\($0)" }
  }
}
