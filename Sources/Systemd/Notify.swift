import CSystemd

/// What a service tells its manager about itself (sd_notify(3)).
public enum Notify: Hashable, Sendable {
  /// Startup is finished, or a reload is: the manager goes on with what waited for the service.
  case ready
  /// What the service is doing, one line for a person; `systemctl status` shows it.
  case status(String)
  /// The configuration is being read again, since this instant of the monotonic clock; ends with ``ready``.
  ///
  /// Microseconds of ``EventLoop/monotonicMicroseconds()``, by which the manager tells this reload from an earlier one.
  case reloading(monotonicMicroseconds: Int64)
  /// The service is at work, for the watchdog of its unit (`WatchdogSec=`); see ``watchdog()``.
  case alive
  /// The service is ending.
  case stopping
  /// Give the start or the stop that is in progress this many microseconds more from now.
  case extendTimeout(microseconds: Int64)

  /// The lines of the protocol.
  ///
  /// A line break in a status becomes a space: what comes after one would be an assignment of its own.
  var text: String {
    switch self {
    case .ready: "READY=1"
    case .status(let status): "STATUS=" + String(status.map { $0.isNewline ? " " : $0 })
    case .reloading(let microseconds): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
    case .alive: "WATCHDOG=1"
    case .stopping: "STOPPING=1"
    case .extendTimeout(let microseconds): "EXTEND_TIMEOUT_USEC=\(microseconds)"
    }
  }

  /// How long the manager lets pass without ``alive`` before it believes that the service hangs; nil for any time
  /// (sd_watchdog_enabled(3)).
  ///
  /// For a service that does not run on an ``EventLoop``, which sees to it by itself.
  public static func watchdog() -> Duration? {
    var microseconds: UInt64 = 0
    return sd_watchdog_enabled(0, &microseconds) > 0 ? .microseconds(Int64(clamping: microseconds)) : nil
  }

  /// Tells the manager all of `notices` in one message, and whether there is a manager.
  ///
  /// Without `$NOTIFY_SOCKET` nobody asked, which is no error. Throws when the socket is there and does not take the
  /// message: the manager then believes what it was told last.
  @discardableResult
  public static func send(_ notices: Notify...) throws(SystemdError) -> Bool {
    let text = notices.map(\.text).joined(separator: "\n")
    return try check(sd_notify(0, text), cannot: "tell the service manager \"\(text)\"") > 0
  }

  /// Has the manager keep a copy of a descriptor for the service's next start, and tells whether there is a manager.
  ///
  /// As far as `FileDescriptorStoreMax=` allows; whether it was kept is not told. It comes back with that name among the
  /// ``PassedDescriptor``s. It is not let go when its other end is gone (`FDPOLL=0`), because there may be something left
  /// to read.
  @discardableResult
  public static func store(_ descriptor: Int32, name: String) throws(SystemdError) -> Bool {
    let result = withUnsafePointer(to: descriptor) {
      sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDPOLL=0\nFDNAME=\(name)", $0, 1)
    }
    return try check(result, cannot: "have the service manager keep the descriptor \(name)") > 0
  }

  /// Has the manager let go of what it keeps under a name.
  ///
  /// One that does not listen is on its way out, and what it keeps goes with it.
  public static func letGo(of name: String) {
    sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
  }
}
