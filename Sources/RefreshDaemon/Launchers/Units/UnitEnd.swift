import Glibc
import RefreshEngine
import Systemd

// The end of a task: kills the remaining processes, reads the accounting, and then reports the end.

extension SystemdLauncher {
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

  /// The processes of a task that are left.
  func processes(of key: TaskKey) -> [Int32] { tasks[key].map { Cgroup.processes(in: cgroup(of: $0)) } ?? [] }

  private func cgroup(of task: SystemdTask) -> String {
    "\(setup.cgroup)/\(setup.units.cgroup(of: task.key, app: task.app))"
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
    guard let changed = task.changedPath else { return report(task, end) }
    var unknown = end
    changed.leaveOpen(&unknown, "it did not answer in time")
    task.state = .comparing(unknown)
    fingerprints.look(at: changed.path, as: task.owner, within: changed.boundAfter) { [unowned self] look in
      guard case .comparing = task.state, tasks[task.key] === task else { return }
      changed.judge(&end, after: look)
      report(task, end)
    }
  }
}
