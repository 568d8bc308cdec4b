import CSystemd
import Glibc

/// A message of the service to its manager (sd_notify(3)).
public enum Notify: Hashable, Sendable {
  /// The start or a reload is finished.
  case ready
  /// The current activity as a line for people; `systemctl status` shows it.
  case status(String)
  /// The service reloads its configuration; ends with ``ready``.
  ///
  /// The instant is ``EventLoop/monotonicMicroseconds()`` at the start of the reload, by which the manager tells
  /// reloads apart.
  case reloading(monotonicMicroseconds: Int64)
  /// The service is alive, for the watchdog of its unit (`WatchdogSec=`); see ``watchdog()``.
  case alive
  /// The service is stopping.
  case stopping
  /// Extends the timeout of the current start or stop to this many microseconds from now.
  case extendTimeout(microseconds: Int64)

  /// The lines of the protocol.
  ///
  /// A line break in a status becomes a space, because the text after it would be another assignment. The manager drops
  /// a message of more than 4,096 bytes, READY=1 with it, so a status has ``statusBytes`` at most.
  var text: String {
    switch self {
    case .ready: "READY=1"
    case .status(let status): "STATUS=" + Self.bounded(String(status.map { $0.isNewline ? " " : $0 }))
    case .reloading(let microseconds): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
    case .alive: "WATCHDOG=1"
    case .stopping: "STOPPING=1"
    case .extendTimeout(let microseconds): "EXTEND_TIMEOUT_USEC=\(microseconds)"
    }
  }

  /// The most bytes of a status.
  static let statusBytes = 2048

  private static func bounded(_ status: String) -> String {
    guard status.utf8.count > statusBytes else { return status }
    let scalars = status.unicodeScalars
    var end = scalars.startIndex
    var left = statusBytes - "…".utf8.count
    while end < scalars.endIndex, case let count = UTF8.width(scalars[end]), count <= left {
      left -= count
      scalars.formIndex(after: &end)
    }
    return String(scalars[..<end]) + "…"
  }

  /// The watchdog timeout: how long the manager waits for ``alive``; nil if there is no watchdog
  /// (sd_watchdog_enabled(3)).
  ///
  /// For a service without an ``EventLoop``, which sends ``alive`` by itself.
  public static func watchdog() -> Duration? {
    var microseconds: UInt64 = 0
    return sd_watchdog_enabled(0, &microseconds) > 0 ? .microseconds(Int64(clamping: microseconds)) : nil
  }

  /// Sends `notices` to the manager in one message; returns whether there is a manager.
  ///
  /// Without `$NOTIFY_SOCKET` there is no manager, which is not an error. Throws when the socket does not accept the
  /// message.
  @discardableResult
  public static func send(_ notices: Notify...) throws(SystemdError) -> Bool {
    let text = notices.map(\.text).joined(separator: "\n")
    return try check(sd_notify(0, text), cannot: "notify the service manager \"\(text)\"") > 0
  }

  /// Stores a copy of a descriptor in the manager for the next start of the service; returns whether there is a
  /// manager.
  ///
  /// `FileDescriptorStoreMax=` limits the number; the manager does not confirm. At the next start the descriptor is
  /// among the ``PassedDescriptor``s, under this name. It stays stored when its other end closes (`FDPOLL=0`), because
  /// it may still have data to read.
  @discardableResult
  public static func store(_ descriptor: Int32, name: String) throws(SystemdError) -> Bool {
    let result = withUnsafePointer(to: descriptor) {
      sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDPOLL=0\nFDNAME=\(name)", $0, 1)
    }
    return try check(result, cannot: "have the service manager keep the descriptor \(name)") > 0
  }

  /// Removes a stored descriptor from the manager.
  ///
  /// Errors do not matter: a manager that does not listen is stopping, and its store ends with it.
  public static func unstore(_ name: String) {
    sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
  }
}

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

  /// Claims all passed descriptors; returns an empty array if there are none.
  ///
  /// Also removes their environment variables (`LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`), so that no task mistakes the
  /// descriptors for its own. Call it once, before the process has other threads.
  public static func claimAll() throws(SystemdError) -> [PassedDescriptor] {
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
