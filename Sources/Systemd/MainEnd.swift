/// The end of the main process of a service.
public enum MainEnd: Hashable, Sendable {
  /// The process exited with a code.
  case exited(Int32)
  /// A signal ended the process.
  case signalled(Int32)

  /// Reads the end from the properties of the service (org.freedesktop.systemd1(5)); nil if they have none.
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
