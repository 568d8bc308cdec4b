import Glibc
import RefreshEngine
import Systemd

// The end of a task: what it left is killed, what it took is asked for, and only then the end is told.

extension SystemdLauncher {
  /// Goes on with a task of which there is news.
  func look(at task: SystemdTask) {
    switch task.state {
    case .starting: if task.known.isOver { clear(task) }
    // What is known of one that was found again may be old until it was asked.
    case .running: if task.known.isOver, !task.isAsked { clear(task) }
    // One that is yet to fail must not be forgotten before: it would stay among the failed ones for good.
    case .told: if task.isReleased, task.known.isSettled { discard(task) }
    default: break
    }
  }

  /// Kills whatever is left of a task whose main process has ended.
  private func clear(_ task: SystemdTask) {
    task.state = .clearing(nil)
    // The kernel reports the last one's end here, as an exceptional condition.
    let cgroup = "\(place.cgroup)/\(place.units.cgroup(of: task.key, app: task.app))"
    let events = open("\(cgroup)/cgroup.events", O_RDONLY | O_CLOEXEC)
    guard events >= 0 else { return count(task) }
    guard Cgroup.isPopulated(events) else {
      close(events)
      return count(task)
    }
    do throws(SystemdError) {
      let source = try loop.watch(events, for: []) { [unowned self] _ in
        guard case .clearing(let source) = task.state, !Cgroup.isPopulated(events) else { return }
        source?.cancel()
        close(events)
        count(task)
      }
      task.state = .clearing(source)
      send(SIGKILL, to: task)
    } catch {
      close(events)
      send(SIGKILL, to: task)
      count(task)
    }
  }

  /// Asks what a task took.
  private func count(_ task: SystemdTask) {
    task.state = .counting
    count(SystemdTask.counters[...], of: task)
  }

  /// One after the other: to have all properties of a service costs the manager more than these few.
  private func count(_ counters: ArraySlice<String>, of task: SystemdTask) {
    guard let counter = counters.first else { return conclude(task) }
    task.call = calls.add { [unowned self, unowned task] in
      bus.call(.get(counter, of: ServiceManager.service, at: task.path, in: ServiceManager.name), handler: $0)
    } answer: { [unowned self, unowned task] answer in
      if case .success(let values) = answer, let value = values.first { task.take(value, of: counter) }
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
    guard let path = task.changedPath else { return report(task, end) }
    task.state = .lookingAgain(end)
    fingerprints.look(at: path) { [unowned self] print in
      guard case .lookingAgain = task.state, tasks[task.key] === task else { return }
      end.changed = print != task.before
      report(task, end)
    }
  }
}
