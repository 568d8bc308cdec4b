/// The end of the main process of a service.
public enum MainEnd: Hashable, Sendable {
  /// It has ended with an exit code.
  case exited(Int32)
  /// A signal has ended it.
  case signalled(Int32)

  /// The end by properties of the service (org.freedesktop.systemd1(5)); nil if they tell of none.
  public init?(_ properties: [String: BusValue]) {
    let status = Int32(truncatingIfNeeded: properties["ExecMainStatus"]?.integer ?? 0)
    // The si_code of waitid(2).
    switch properties["ExecMainCode"]?.integer {
    case 1: self = .exited(status)
    case 2, 3: self = .signalled(status)
    default: return nil
    }
  }
}
