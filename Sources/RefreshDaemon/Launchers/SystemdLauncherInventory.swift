import Glibc
import RefreshEngine
import Systemd

// Finding units again: after the daemon's start, and after the bus or the manager was away.

extension SystemdLauncher {
  /// How long the daemon's start waits for what a daemon before it left, in seconds.
  private static let cleanBound: Int64 = 5

  // MARK: Start

  func takeUp(_ left: [LeftTask], stored: [PassedDescriptor]) -> [TaskKey: FoundTask] {
    leftUnits = list()
    let units = Set(leftUnits.map(\.name))
    var found: [TaskKey: FoundTask] = [:]
    for left in left {
      let task = SystemdTask(left, units: place.units, files: place.files)
      guard units.contains(task.unit) else { continue }
      let contents = task.file.read()
      task.before = contents.before
      task.hadPrinted = contents.hasPrinted
      task.state = .running
      add(task)
      takeUpOutput(of: task)
      found[left.key] = FoundTask(token: contents.token, completion: contents.completion)
    }
    let outputs = Set(tasks.values.map(\.outputName))
    for descriptor in stored {
      close(descriptor.descriptor)
      if !outputs.contains(descriptor.name) { Notify.letGo(of: descriptor.name) }
    }
    return found
  }

  private func takeUpOutput(of task: SystemdTask) {
    let reader = TaskStreams.reopenOutput(at: task.file.output)
    guard reader >= 0 else { return }
    do throws(StartError) {
      try listen(to: reader, of: task)
    } catch {
      // Its output is lost, and its end is not.
      return
    }
  }

  func clean(leftFrom refreshes: Set<RefreshID>) {
    let bound = WaitBound(Self.cleanBound)
    let known = Set(tasks.values.map(\.unit))
    let left = leftUnits.map(\.name).filter { place.units.key(ofUnit: $0) != nil && !known.contains($0) }
    leftUnits = []
    let files = Set(tasks.values.flatMap { [$0.file.path, $0.file.output] })
    for name in Processes.names(in: place.files) where !files.contains("\(place.files)/\(name)") {
      unlink("\(place.files)/\(name)")
    }
    guard !left.isEmpty, let session = session() else { return }
    for unit in left {
      discard(unit) { method in
        // A unit without a process has nobody to be killed, and one that has not failed cannot be reset.
        do throws(BusError) { _ = try session.call(method) } catch { return }
      }
    }
    for unit in left { wait(forEndOf: unit, until: bound) }
  }

  /// Waits until no process of a unit is left, whose app is not known any more.
  private func wait(forEndOf unit: String, until bound: WaitBound) {
    let slices = "\(place.cgroup)/refreshd.slice"
    for slice in Processes.names(in: slices) {
      let events = open("\(slices)/\(slice)/\(unit)/cgroup.events", O_RDONLY | O_CLOEXEC)
      guard events >= 0 else { continue }
      while Cgroup.isPopulated(events), bound.wait(for: Int16(POLLPRI), on: events) {}
      close(events)
    }
  }

  /// The units of tasks, asked for without the loop.
  ///
  /// None when nobody answers in time: the tasks count as lost then, and are ended as soon as the manager is found.
  private func list() -> [ListedUnit] {
    guard let session = session() else { return [] }
    do throws(BusError) {
      return ListedUnit.list(in: try session.call(ServiceManager.listTasks))
    } catch {
      return []
    }
  }

  private func session() -> BusSession? {
    do throws(SystemdError) { return try BusSession(place.bus) } catch { return nil }
  }

  /// Ends a unit that nobody knows, and has it forgotten.
  private func discard(_ unit: String, by send: (BusMethod) -> Void) {
    send(ServiceManager.kill(unit, .all, SIGKILL))
    send(ServiceManager.stop(unit))
    send(ServiceManager.resetFailed(unit))
  }

  // MARK: Connection

  /// Asks which units there are, and goes on with each task as it finds it.
  func takeInventory() {
    guard bus.state == .connected else { return }
    inventory = bus.call(ServiceManager.listTasks, timeout: Self.patience) { [unowned self] answer in
      inventory = nil
      guard case .success(let values) = answer else { return takeInventoryAgain(answer) }
      let units = ListedUnit.list(in: values).filter { place.units.key(ofUnit: $0.name) != nil }
      reconcile(Dictionary(uniqueKeysWithValues: units.map { ($0.name, $0) }))
    }
  }

  /// A manager that took too long is asked again; one that is away, when it is back.
  private func takeInventoryAgain(_ answer: BusCall.Answer) {
    if case .failure(let error) = answer, error.name == "org.freedesktop.DBus.Error.NoReply" { takeInventory() }
  }

  private func reconcile(_ units: [String: ListedUnit]) {
    let known = Set(tasks.values.map(\.unit))
    for unit in units.keys.sorted() where !known.contains(unit) { discard(unit) { bus.send($0) } }
    for task in tasks.values.sorted(by: { $0.unit < $1.unit }) {
      switch (task.state, units[task.unit]) {
      case (.awaitingBus, nil): run(task)
      case (.awaitingBus, let unit?), (.running, let unit?): goOn(task, unit)
      case (.running, nil): fail(task, "cannot tell how \(task.program) ended: the service manager has lost its unit")
      case (.clearing, _): send(SIGKILL, to: task)
      case (.told, let unit?):
        task.known.take(unit)
        look(at: task)
      case (.told, nil) where task.isReleased: discard(task)
      default: break
      }
    }
  }

  /// Goes on with a task whose unit was found, and asks what was missed.
  private func goOn(_ task: SystemdTask, _ unit: ListedUnit) {
    task.state = .running
    task.known.take(unit)
    bus.send(ServiceManager.ref(task.unit))
    if let signal = task.asked { send(signal, to: task) }
    task.question = bus.call(
      .getAll(of: ServiceManager.everything, at: task.path, in: ServiceManager.name), timeout: Self.patience
    ) { [unowned self] answer in
      task.question = nil
      guard case .success(let values) = answer else { return takeInventoryAgain(answer) }
      task.known.take(values.first?.entries ?? [:])
      look(at: task)
    }
  }
}
