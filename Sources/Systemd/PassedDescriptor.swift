import CSystemd
import Glibc

/// A descriptor that systemd passed to the service at its start (sd_listen_fds(3)).
public struct PassedDescriptor: Hashable, Sendable {
  /// Where it comes from.
  public enum Kind: Hashable, Sendable {
    /// A socket unit opened it, and clients come by it.
    case listening
    /// The service itself gave it away before it was started anew (``Notify/store(_:name:)``).
    case stored
  }

  /// What the unit calls it (`FileDescriptorName=`, or the name of the socket unit), or the service did.
  public var name: String
  /// Where it comes from.
  public var kind: Kind
  /// The descriptor, from now on the caller's, closed on exec.
  public var descriptor: Int32

  /// Takes over all descriptors that were passed; none if there are none.
  ///
  /// Also clears the environment of them (`LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`), so that no task believes they
  /// are its own: call it once, before the process has other threads.
  public static func takeAll() throws(SystemdError) -> [PassedDescriptor] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = try check(
      sd_listen_fds_with_names(1, &names), cannot: "take over the descriptors of the service manager")
    defer { free(names) }
    return (0..<count).map { number in
      let name = names?[Int(number)]
      defer { free(name) }
      let descriptor = SD_LISTEN_FDS_START + number
      // The names are anybody's; what accepts connections can only be a socket unit's.
      return PassedDescriptor(
        name: name.map { String(cString: $0) } ?? "unknown",
        kind: sd_is_socket(descriptor, AF_UNSPEC, 0, 1) > 0 ? .listening : .stored, descriptor: descriptor)
    }
  }
}
