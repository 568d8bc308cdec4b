import Glibc
import RefreshAPI
import Systemd

/// `refresh-worker keep`: keeps the unit of a guard from running until it is asked to end, and then returns it.
enum KeepTask {
  /// Runs the task and returns the exit code: 0 when nothing is kept any more.
  ///
  /// A line on standard output is the trouble with the unit's return, for the daemon.
  static func run() -> Int32 {
    if let failure = Confinement.enter() {
      print(failure.message)
      return EX_OSERR
    }
    guard let order = TaskContext.order(as: Wire.KeepOrder.self) else { return EX_USAGE }
    do {
      let keeper = try UnitKeeper(order, TaskLink())
      switch try keeper.run() {
      case .returned(let trouble):
        if let trouble { print(trouble) }
        return 0
      case .failed(let reason):
        print(reason)
        return EX_TEMPFAIL
      }
    } catch {
      print("\(error)")
      return EX_TEMPFAIL
    }
  }
}
