import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Adds what a task's unit has used to what its worker uses.
  func account(_ call: Call<WorkerInterface.Account.Parameters>) {
    let asked = call.parameters
    guard let key = runner.task(of: asked.token), let running = runner[key.refresh], running.performer == nil,
      running.app.owner.uid == call.peer.uid, running.app.commands[key.task].unit != nil
    else { return call.fail(RefreshdInterface.NoSuchToken()) }
    for (name, value) in [("cpu_us", asked.cpuMicroseconds), ("bytes", asked.bytes)] where (value ?? 0) < 0 {
      return call.fail(InvalidParameter(parameter: name))
    }
    runner.accounts[key] = UnitAccount(cpu: .microseconds(asked.cpuMicroseconds ?? 0), bytes: asked.bytes)
    call.reply()
  }
}

/// The use of the machine by a unit that a task started.
struct UnitAccount: Hashable, Sendable {
  /// The processor time.
  let cpu: Duration
  /// The bytes over the network; nil where systemd does not count them.
  let bytes: Int64?

  /// Adds it to the end of the worker.
  func added(to end: TaskEnd) -> TaskEnd {
    var end = end
    end.cpu += cpu
    // The worker itself uses no network.
    end.bytes = bytes
    return end
  }
}
