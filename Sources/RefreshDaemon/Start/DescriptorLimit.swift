import Glibc

/// How many descriptors the process may have open (getrlimit(2), `RLIMIT_NOFILE`).
///
/// Each connection and each running task needs some. The soft limit is low for the sake of select(2), which the daemon
/// does not use: it raises its own, and tasks start with the one that it was started with.
enum DescriptorLimit {
  /// The limit in force.
  static var current: rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }

  /// Raises the soft limit to the hard one.
  static func raise() {
    var limit = current
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
