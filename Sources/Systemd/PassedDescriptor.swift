import CSystemd
import Glibc

/// A descriptor that systemd passed to the service at its start (sd_listen_fds(3)).
public struct PassedDescriptor: Hashable, Sendable {
  /// The origin of a descriptor.
  public enum Kind: Hashable, Sendable {
    /// A socket unit opened it for clients.
    case listening
    /// The service stored it before its last stop (``Notify/store(_:name:)``).
    case stored
  }

  /// The name from the unit (`FileDescriptorName=`, or the name of the socket unit), or from the service.
  public var name: String
  /// The origin.
  public var kind: Kind
  /// The descriptor, which is closed on exec; the caller owns it.
  public var descriptor: Int32

  /// Takes over all passed descriptors; empty if there are none.
  ///
  /// Also removes their environment variables (`LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`), so that no task takes the
  /// descriptors for its own. Call it once, before the process has other threads.
  public static func takeAll() throws(SystemdError) -> [PassedDescriptor] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = try check(
      sd_listen_fds_with_names(1, &names), cannot: "take over the descriptors of the service manager")
    defer { free(names) }
    return (0..<count).map { number in
      let name = names?[Int(number)]
      defer { free(name) }
      let descriptor = SD_LISTEN_FDS_START + number
      // Names are not reliable. Only a socket unit can pass a descriptor that accepts connections.
      return PassedDescriptor(
        name: name.map { String(cString: $0) } ?? "unknown",
        kind: sd_is_socket(descriptor, AF_UNSPEC, 0, 1) > 0 ? .listening : .stored, descriptor: descriptor)
    }
  }
}
