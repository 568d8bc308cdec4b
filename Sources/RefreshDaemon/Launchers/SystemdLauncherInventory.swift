import Glibc
import RefreshEngine
import Systemd

// Finding units again: after the daemon's start, and after the bus or the manager was away.

extension SystemdLauncher {
  // MARK: Start

  func takeUp(_ left: [LeftTask], stored: [PassedDescriptor]) -> [TaskKey: FoundTask] {
    leftUnits = LeftUnits(place: place).names()
    let units = leftUnits.map(Set.init)
    var found: [TaskKey: FoundTask] = [:]
    for left in left {
      let task = SystemdTask(left, units: place.units, files: place.files)
      // Where nobody can say, it is there as long as its file: whether it is will be known when somebody can.
      guard units?.contains(task.unit) ?? task.file.isThere else { continue }
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
    // What nobody could tell of is ended when it is found.
    guard let names = leftUnits else { return }
    leftUnits = nil
    let left = LeftUnits(place: place)
    left.removeFiles(but: Set(tasks.values.flatMap { [$0.file.path, $0.file.output] }))
    left.end(names.filter { !Set(tasks.values.map(\.unit)).contains($0) })
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
    for unit in units.values.sorted(by: { $0.name < $1.name }) where !known.contains(unit.name) { end(stray: unit) }
    for task in tasks.values.sorted(by: { $0.unit < $1.unit }) {
      switch (task.state, units[task.unit]) {
      case (.awaitingBus, nil): run(task)
      case (.awaitingBus, let unit?), (.running, let unit?): goOn(task, unit)
      case (.running, nil): fail(task, "cannot tell how \(task.program) ended: the service manager has lost its unit")
      case (.clearing, _): send(SIGKILL, to: task)
      case (.told, let unit?):
        task.known.take(unit)
        reference(task)
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
    reference(task)
    if let signal = task.asked { send(signal, to: task) }
    task.call = calls.add { [unowned self, unowned task] in
      bus.call(
        .getAll(of: ServiceManager.everything, at: task.path, in: ServiceManager.name), timeout: Self.patience,
        handler: $0)
    } answer: { [unowned self, unowned task] answer in
      guard case .success(let values) = answer else { return takeInventoryAgain(answer) }
      task.known.take(values.first?.entries ?? [:])
      look(at: task)
    }
  }

  /// Has the manager keep a task's unit and tell of it, once on each connection: each time would have to be taken back.
  private func reference(_ task: SystemdTask) {
    guard !task.isReferenced else { return }
    task.isReferenced = true
    bus.send(ServiceManager.ref(task.unit))
  }

  /// What was kept for this connection is kept no more.
  func noteLoss() {
    for task in tasks.values { task.isReferenced = false }
    strays = [:]
    listenIfNeeded()
  }

  // MARK: Strays

  /// Ends a unit that nobody knows, and follows it until it has ended.
  private func end(stray unit: ListedUnit) {
    TaskFile(of: unit.name, in: place.files).remove()
    guard unit.activeState != "inactive", let path = BusPath.encoded(unit.name, below: ServiceManager.unitPath) else {
      return
    }
    // One that was found before is referenced already.
    if strays.updateValue(unit.name, forKey: path) == nil {
      listenIfNeeded()
      bus.send(ServiceManager.ref(unit.name))
    }
    for method in ServiceManager.end(unit.name) { bus.send(method) }
  }

  /// Has a unit forgotten that nobody knows, once it has ended.
  func look(atStray path: String, _ news: [String: BusValue]) {
    guard let unit = strays[path], let state = news["ActiveState"]?.text else { return }
    // It fails of being killed, and would stay as one that has failed.
    if state == "failed" { bus.send(ServiceManager.resetFailed(unit)) }
    guard state == "inactive" || state == "failed" else { return }
    bus.send(ServiceManager.unref(unit))
    strays[path] = nil
    listenIfNeeded()
  }
}
