import Glibc
import RefreshAPI
import Systemd

/// `refresh-worker keep`: keeps a guard's unit from running until the daemon ends the process, and then returns the unit.
enum KeepTask {
  /// Runs the task and returns the exit code: 0 when the unit is returned.
  ///
  /// A line on standard output tells the daemon why the unit could not be returned.
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
