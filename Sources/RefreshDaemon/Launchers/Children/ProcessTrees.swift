import Glibc

/// Reaches every process of a task, also a process that left its session and process group.
///
/// ``CgroupTrees`` is used if the daemon's cgroup is delegated, ``SubreaperTrees`` otherwise.
protocol ProcessTrees: AnyObject {
  /// Prepares for a task, and returns an open `cgroup.procs` for its main process to join, if there is one.
  ///
  /// The caller closes it, and calls ``clear(_:then:)`` even if nothing was started.
  func prepare(_ key: ProcessKey, environment: [String]) throws(StartError) -> Int32?

  /// Records the main process of a task, which leads a session of its own.
  func started(_ key: ProcessKey, main: pid_t)

  /// Sends a signal to every process of a task.
  func send(_ signal: Int32, to key: ProcessKey)

  /// The known processes of a task, without the main process.
  func processes(of key: ProcessKey) -> [pid_t]

  /// Kills the remaining processes of a task whose main process has ended but is not reaped yet.
  ///
  /// Calls `then` when no process is left, at once if there was none. The argument is the processor time of the
  /// processes that this type reaped itself.
  func clear(_ key: ProcessKey, then: @escaping (Duration) -> Void)

  /// The directory of a task's cgroup, if it has one of its own.
  func cgroup(of key: ProcessKey) -> String?

  /// Kills the processes that a previous daemon left behind, and waits for their ends until the bound.
  ///
  /// Handles only processes that ``LeftProcesses`` cannot find.
  func clean(until bound: WaitBound)
}

extension ProcessTrees {
  func cgroup(of key: ProcessKey) -> String? { nil }
}

extension Duration {
  /// The sum of user and system time.
  init(_ usage: rusage) {
    self =
      .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
  }
}
