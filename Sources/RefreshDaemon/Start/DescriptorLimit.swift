import Glibc

/// The limit of open descriptors (getrlimit(2), `RLIMIT_NOFILE`).
///
/// Each connection and each running task needs some. The soft limit is low because of select(2), which the daemon does not
/// use. The daemon raises its own limit, and tasks start with the original limit.
enum DescriptorLimit {
  static var current: rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }

  /// Raises the soft limit to the hard limit.
  static func raise() {
    var limit = current
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
