import CSystemd
import Glibc

/// A socket that systemd opened for the service and passed to it (sd_listen_fds(3)).
public struct ListenDescriptor: Hashable, Sendable {
  /// What the unit calls it: `FileDescriptorName=`, or the name of the socket unit.
  public var name: String
  /// The descriptor, from now on the caller's, closed on exec.
  public var descriptor: Int32

  /// Takes over all sockets that were passed; none if the service was not started by one.
  ///
  /// Also clears the environment of them (`LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`), so that no task believes they
  /// are its own: call it once, before the process has other threads.
  public static func takeAll() throws(SystemdError) -> [ListenDescriptor] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = try check(sd_listen_fds_with_names(1, &names), cannot: "take over the sockets of the service manager")
    defer { free(names) }
    return (0..<count).map { number in
      let name = names?[Int(number)]
      defer { free(name) }
      return ListenDescriptor(
        name: name.map { String(cString: $0) } ?? "unknown", descriptor: SD_LISTEN_FDS_START + number)
    }
  }
}
