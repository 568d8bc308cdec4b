import Glibc

/// How the launcher reaches every process of a task, also those that left its session and its process group.
///
/// Two ways: ``CgroupTrees`` where the daemon's cgroup is its own to divide, ``SubreaperTrees`` everywhere else.
protocol ProcessTrees: AnyObject {
  /// Makes ready for a task, and gives the open `cgroup.procs` that its main process is to join, if there is one.
  ///
  /// The caller closes it, and calls ``clear(_:then:)`` also when nothing was started.
  func prepare(_ key: TaskKey) throws(StartError) -> Int32?

  /// Takes note of the main process of a task, which leads a session of its own.
  func started(_ key: TaskKey, main: pid_t, environment: [String])

  /// Sends a signal to every process of a task.
  func send(_ signal: Int32, to key: TaskKey)

  /// Kills whatever is left of a task whose main process has ended and is not yet reaped.
  ///
  /// Calls `then` when nothing is left, at once if nothing was, with the processor time of what it reaped itself.
  func clear(_ key: TaskKey, then: @escaping (Duration) -> Void)

  /// Kills what a daemon before this one left, and waits for it until the bound.
  ///
  /// Only what ``LeftProcesses`` cannot find.
  func clean(until bound: WaitBound)
}

extension Duration {
  /// User and system time together.
  init(_ usage: rusage) {
    self =
      .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
  }
}
