import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Adds the use by a task's unit to the use by its worker.
  func account(_ call: Call<WorkerInterface.Account.Parameters>) {
    let asked = call.parameters
    guard let (key, running) = runner.refreshes.task(of: asked.token, calledBy: call.peer),
      running.app.commands[key.task].unit != nil
    else { return call.fail(RefreshdInterface.NoSuchToken()) }
    guard UnitUse.cpuBounds.contains(asked.cpuMicroseconds ?? 0) else {
      return call.fail(InvalidParameter(parameter: "cpu_us"))
    }
    guard UnitUse.byteBounds.contains(asked.bytes ?? 0) else {
      return call.fail(InvalidParameter(parameter: "bytes"))
    }
    runner.note(use: UnitUse(cpu: .microseconds(asked.cpuMicroseconds ?? 0), bytes: asked.bytes), of: key)
    call.reply()
  }
}

/// The use of the machine by a unit that a task started.
struct UnitUse: Hashable, Sendable {
  /// The processor time.
  let cpu: Duration
  /// The bytes over the network; nil where systemd does not count them.
  let bytes: Int64?

  /// A larger number would overflow the sums over an app's tasks and refreshes: 35 years in microseconds, 9 PB.
  static let cpuBounds: ClosedRange<Int64> = 0...1 << 50
  static let byteBounds: ClosedRange<Int64> = 0...1 << 53

  /// Adds it to the worker's end.
  func added(to end: TaskEnd) -> TaskEnd {
    var end = end
    end.cpu += cpu
    // The worker itself uses no network.
    end.bytes = bytes
    return end
  }
}
