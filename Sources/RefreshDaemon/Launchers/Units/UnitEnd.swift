import Glibc
import RefreshEngine
import Systemd

// The end of a task: on request or by itself. The launcher kills the remaining processes, reads the accounting, and
// then reports the end.

extension SystemdLauncher {
  /// Ends the processes of a task by a signal, or the task at once if nothing of it runs.
  func end(_ key: ProcessKey, by signal: Int32) {
    guard let task = tasks[key] else { return }
    switch task.state {
    case .awaitingBus:
      fail(task, "cannot start \(task.program): the service manager could not be reached: \(absence ?? bus.reason)")
    case .starting, .running:
      if task.sentSignal != SIGKILL { task.sentSignal = signal }
      send(signal, to: task)
    case .clearing, .counting, .failing, .reported:
      break
    }
  }

  /// Sends a signal to all processes of a task, also if its unit is still being started.
  func send(_ signal: Int32, to task: SystemdTask) {
    bus.send(ServiceManager.kill(task.unit, .all, signal))
    // A stopped process handles SIGTERM only after SIGCONT.
    if signal == SIGTERM { bus.send(ServiceManager.kill(task.unit, .all, SIGCONT)) }
    if !task.known.hasBeenActive { bus.send(ServiceManager.stop(task.unit)) }
  }

  /// Moves a task on after a change of its unit.
  func advance(_ task: SystemdTask) {
    switch task.state {
    case .starting: if task.known.isOver { clear(task) }
    // The known state of an adopted task may be out of date until the manager has answered.
    case .running: if task.known.isOver, !task.awaitsReply { clear(task) }
    // If a unit is forgotten before it fails, systemd lists it as failed for good.
    case .reported: if task.isReleased, task.known.isSettled { discard(task) }
    default: break
    }
  }

  /// Kills the remaining processes of a task whose main process has ended.
  private func clear(_ task: SystemdTask) {
    task.state = .clearing(nil)
    let cgroup = cgroup(of: task)
    do throws(SystemdError) {
      let watch = try CgroupWatch(cgroup, on: loop) { [unowned self, unowned task] in count(task) }
      guard let watch else { return count(task) }
      task.state = .clearing(watch)
      send(SIGKILL, to: task)
    } catch {
      send(SIGKILL, to: task)
      count(task)
    }
  }

  /// Reads the accounting of a task.
  private func count(_ task: SystemdTask) {
    task.state = .counting
    count(SystemdTask.counters[...], of: task)
  }

  /// Reads one property at a time, because reading all properties of a service costs the manager more.
  private func count(_ counters: ArraySlice<String>, of task: SystemdTask) {
    guard let counter = counters.first else { return conclude(task) }
    task.call = calls.add { [unowned self, unowned task] in
      bus.call(.get(counter, of: ServiceManager.service, at: task.path, in: ServiceManager.name), handler: $0)
    } answer: { [unowned self, unowned task] answer in
      if case .success(let values) = answer, let value = values.first { task.apply(value, of: counter) }
      count(counters.dropFirst(), of: task)
    }
  }

  private func conclude(_ task: SystemdTask) {
    task.output?.drain()
    var end = TaskEnd(
      exit: task.known.exit(of: task), printed: task.hadPrinted || task.output?.hasPrinted ?? false,
      cpu: task.processorTime, message: task.output?.message ?? "")
    end.bytes = task.bytes
    if task.launch == nil { end.duration = task.known.duration }
    report(task, end)
  }

  /// Reports the end of a task; the unit stays.
  func report(_ task: SystemdTask, _ end: TaskEnd) {
    task.state = .reported
    task.output = nil
    weigh()
    owner.ended(task.key, end)
    discardIfReleased(task)
  }

  // MARK: Tasks that cannot start

  /// Reports in the next turn of the loop that a task cannot start.
  func fail(_ task: SystemdTask, _ sentence: String) {
    task.state = .failing(sentence)
    task.call = nil
    failedStarts?.add(task.key)
  }

  /// Reports that a task cannot start, if that was its state until now.
  func reportFailure(of key: ProcessKey) {
    guard let task = tasks[key], case .failing(let sentence) = task.state else { return }
    // The sentence is also the message: if the task is stopped for its deadline meanwhile, the deadline is the cause.
    report(task, TaskEnd(exit: .notStarted(sentence), message: sentence))
  }
}
