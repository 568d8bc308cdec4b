import Glibc
import RefreshEngine
import Systemd

// Finds surviving units: at the daemon's start, and after the bus or the manager was away.

extension SystemdLauncher {
  // MARK: Start

  func adopt(_ left: [LeftTask], stored: [PassedDescriptor]) -> [ProcessKey: FoundTask] {
    leftUnits = LeftUnits(setup: setup).names()
    let units = leftUnits.map(Set.init)
    var found: [ProcessKey: FoundTask] = [:]
    for left in left {
      let task = SystemdTask(left, units: setup.units, files: setup.files)
      // If the manager did not answer, assume that the unit exists as long as its file; the list of units will tell.
      guard units?.contains(task.unit) ?? task.file.isThere else { continue }
      let contents = task.file.read()
      task.hadPrinted = contents.hasPrinted
      task.state = .running
      add(task)
      reopenOutput(of: task)
      found[left.key] = FoundTask(
        token: contents.token, completion: contents.completion, before: contents.before)
    }
    let outputs = Set(tasks.values.map(\.outputName))
    for descriptor in stored {
      close(descriptor.descriptor)
      if !outputs.contains(descriptor.name) { Notify.unstore(descriptor.name) }
    }
    return found
  }

  private func reopenOutput(of task: SystemdTask) {
    let reader = TaskStreams.reopenOutput(at: task.file.output)
    guard reader >= 0 else { return }
    do throws(StartError) {
      try listen(to: reader, of: task)
    } catch {
      // The output is lost, but the end is not.
      return
    }
  }

  func clean(leftFrom runs: Set<RunID>) {
    // If the manager did not answer, such units are ended when the list of units shows them.
    guard let names = leftUnits else { return }
    leftUnits = nil
    let left = LeftUnits(setup: setup)
    left.removeFiles(but: Set(tasks.values.flatMap { [$0.file.path, $0.file.output] }))
    left.end(names.filter { !Set(tasks.values.map(\.unit)).contains($0) })
  }

  // MARK: Connection

  /// Lists the units, and moves each task on by the state of its unit.
  func listUnits() {
    guard bus.state == .connected else { return }
    // Units start on another connection, so a list may be older than a unit that was started after the call.
    let asked = Set(tasks.values.filter { if case .running = $0.state { true } else { false } }.map(\.key))
    listing = bus.call(ServiceManager.listTasks, timeout: Self.patience) { [unowned self] answer in
      listing = nil
      absence = nil
      guard case .success(let values) = answer else { return listUnitsAgain(after: answer) }
      let units = ListedUnit.list(in: values).filter { setup.units.key(ofUnit: $0.name) != nil }
      reconcile(Dictionary(uniqueKeysWithValues: units.map { ($0.name, $0) }), thatRanBefore: asked)
    }
  }

  /// Lists the units again after a timeout; an absent manager is asked when it is back.
  private func listUnitsAgain(after answer: BusCall.Answer) {
    guard case .failure(let error) = answer else { return }
    if error.isNobodyThere { absence = "no service manager is on the \(bus.address.name)" }
    if error.name == "org.freedesktop.DBus.Error.NoReply" { listUnits() }
  }

  /// Moves each task on by a list of the units; only the tasks in `asked` ran when the list was asked for.
  private func reconcile(_ units: [String: ListedUnit], thatRanBefore asked: Set<ProcessKey>) {
    let known = Set(tasks.values.map(\.unit))
    for unit in units.values.sorted(by: { $0.name < $1.name }) where !known.contains(unit.name) { endUnknown(unit) }
    for task in tasks.values.sorted(by: { $0.unit < $1.unit }) {
      switch (task.state, units[task.unit]) {
      case (.awaitingBus, nil): run(task)
      case (.awaitingBus, let unit?), (.running, let unit?): resume(task, unit)
      case (.running, nil) where asked.contains(task.key):
        fail(task, "cannot find out how \(task.program) ended: the service manager has lost its unit")
      case (.clearing, _): send(SIGKILL, to: task)
      case (.reported, let unit?):
        task.known.apply(unit)
        reference(task)
        advance(task)
      case (.reported, nil) where task.isReleased: discard(task)
      default: break
      }
    }
  }

  /// Resumes a task whose unit was found, and reads the properties that may have changed.
  private func resume(_ task: SystemdTask, _ unit: ListedUnit) {
    task.state = .running
    task.known.apply(unit)
    reference(task)
    if let signal = task.sentSignal { send(signal, to: task) }
    readState(of: task)
  }

  /// Reads the state of a unit that may have ended before the manager knew whom to inform.
  func lookAtEnd(of task: SystemdTask) {
    ask(ServiceManager.subState(at: task.path), about: task, timeout: Self.patience) { launcher, task, answer in
      guard case .success(let values) = answer else { return launcher.listUnitsAgain(after: answer) }
      if values.first?.text.map(ServiceManager.beforeEnd.contains) != true { launcher.readState(of: task) }
    }
  }

  private func readState(of task: SystemdTask) {
    let method = BusMethod.getAll(of: ServiceManager.everything, at: task.path, in: ServiceManager.name)
    ask(method, about: task, timeout: Self.patience) { launcher, task, answer in
      guard case .success(let values) = answer else { return launcher.listUnitsAgain(after: answer) }
      task.known.apply(values.first?.entries ?? [:])
      launcher.advance(task)
    }
  }

  /// Takes a reference to a task's unit, once on each connection, because each reference must be dropped again.
  func reference(_ task: SystemdTask) {
    guard !task.isReferenced else { return }
    task.isReferenced = true
    bus.send(ServiceManager.ref(task.unit))
  }

  /// Forgets the references, which ended with the connection.
  func noteLoss() {
    for task in tasks.values { task.isReferenced = false }
    unknownUnits = [:]
    listenIfNeeded()
  }

  // MARK: Unknown units

  /// Ends a unit without a known task, and watches it until it has ended.
  private func endUnknown(_ unit: ListedUnit) {
    TaskFile(of: unit.name, in: setup.files).remove()
    guard unit.activeState != "inactive", let path = BusPath.encoded(unit.name, below: ServiceManager.unitPath) else {
      return
    }
    // A unit that was found before has a reference already.
    if unknownUnits.updateValue(unit.name, forKey: path) == nil {
      listenIfNeeded()
      bus.send(ServiceManager.ref(unit.name))
    }
    for method in ServiceManager.end(unit.name) { bus.send(method) }
  }

  /// Makes the manager forget a unit without a known task, once it has ended.
  func updateUnknown(at path: String, _ news: [String: BusValue]) {
    guard let unit = unknownUnits[path], let state = news["ActiveState"]?.text else { return }
    // The unit fails because it was killed, and would stay listed as failed.
    if state == "failed" { bus.send(ServiceManager.resetFailed(unit)) }
    guard state == "inactive" || state == "failed" else { return }
    bus.send(ServiceManager.unref(unit))
    unknownUnits[path] = nil
    listenIfNeeded()
  }
}

/// The units that a previous daemon left; listed and ended with blocking calls during the daemon's start.
struct LeftUnits {
  /// How long the daemon's start waits for their ends, in seconds.
  private static let cleanBound: Int64 = 5

  let setup: SystemdLauncher.Setup

  /// The names of the units; nil if the service manager does not answer in time.
  func names() -> [String]? {
    guard let session = session() else { return nil }
    do throws(BusError) {
      return ListedUnit.list(in: try session.call(ServiceManager.listTasks)).map(\.name)
        .filter { setup.units.key(ofUnit: $0) != nil }
    } catch {
      return nil
    }
  }

  /// Ends all units and removes their files, for a daemon that starts its tasks itself.
  ///
  /// Does nothing if no daemon has left files. If the service manager does not answer, the next start tries again.
  func endAll() {
    guard access(setup.files, F_OK) == 0, let names = names() else { return }
    end(names)
    removeFiles(but: [])
    rmdir(setup.files)
  }

  /// Removes the files of all tasks except these paths.
  func removeFiles(but kept: Set<String>) {
    for path in SmallFiles.names(in: setup.files).map({ "\(setup.files)/\($0)" }) where !kept.contains(path) {
      unlink(path)
    }
  }

  /// Ends and resets units, and waits until none of their processes is left.
  func end(_ units: [String]) {
    guard !units.isEmpty, let session = session() else { return }
    let send = { (method: BusMethod) in
      // Errors are expected: a unit may have no process to kill, or may not have failed.
      do throws(BusError) { _ = try session.call(method) } catch { return }
    }
    let bound = WaitBound(Self.cleanBound)
    for unit in units { ServiceManager.end(unit).forEach(send) }
    for unit in units {
      wait(forEndOf: unit, until: bound)
      // The unit has failed only now, because it was killed.
      send(ServiceManager.resetFailed(unit))
    }
  }

  /// Waits until no process of a unit is left, whatever the app of its slice.
  private func wait(forEndOf unit: String, until bound: WaitBound) {
    let slices = "\(setup.cgroup)/refreshd.slice"
    for slice in SmallFiles.names(in: slices) {
      Cgroup.wait(forEndOf: "\(slices)/\(slice)/\(unit)", until: bound)
    }
  }

  private func session() -> BusSession? {
    do throws(SystemdError) { return try BusSession(setup.bus) } catch { return nil }
  }
}
