/// The apps by id, and by index in order of id.
///
/// A dictionary of large values wastes the room of its free buckets: here more room than the apps take. So the apps lie in
/// an array. An app that was ever configured stays.
@usableFromInline struct AppStorage: Sendable {
  private var table = IDTable()
  private var apps: ContiguousArray<App> = []
  /// The learners of the apps, in an array of their own: they are large, and few events touch them.
  private var learners: ContiguousArray<Learned?> = []
  /// The ids in order, each at its index.
  private(set) var ids: ContiguousArray<AppID> = []

  init(restoring states: [AppID: AppState], learned: [AppID: Learned]) {
    reserve(states.count)
    for id in states.keys.sorted() {
      append(id, App(state: states[id] ?? AppState()), learned[id])
    }
  }

  /// How many apps were ever configured.
  var count: Int { apps.count }

  var indexes: Range<AppIndex> { 0..<AppIndex(apps.count) }

  /// The index of an app; nil if it was never configured.
  func index(of id: AppID) -> AppIndex? { table.index(of: id, in: ids) }

  func id(at index: AppIndex) -> AppID { ids[Int(index)] }

  /// Adds new apps; true if any was new, and then every index may name another app.
  mutating func add(_ some: some Sequence<AppID>) -> Bool {
    let new = some.filter { index(of: $0) == nil }
    guard !new.isEmpty else { return false }
    let before = self
    self = AppStorage(restoring: [:], learned: [:])
    reserve(before.count + new.count)
    for id in (before.ids + new).sorted() {
      if let index = before.index(of: id) {
        append(id, before.apps[Int(index)], before.learners[Int(index)])
      } else {
        append(id, App(), nil)
      }
    }
    return true
  }

  /// The storage of one known app alone.
  func alone(_ id: AppID) -> AppStorage {
    var alone = AppStorage(restoring: [:], learned: [:])
    guard let index = index(of: id).map(Int.init) else { return alone }
    alone.reserve(1)
    alone.append(id, apps[index], learners[index])
    return alone
  }

  private mutating func reserve(_ count: Int) {
    table = IDTable(capacity: count)
    apps.reserveCapacity(count)
    learners.reserveCapacity(count)
    ids.reserveCapacity(count)
  }

  private mutating func append(_ id: AppID, _ app: App, _ learned: Learned?) {
    apps.append(app)
    learners.append(learned)
    ids.append(id)
    table.insertLast(of: ids)
  }

  /// Keeps the text of an equal id in place of its own, so that the text is in memory once.
  mutating func share(_ id: AppID) {
    if let index = index(of: id) { ids[Int(index)] = id }
  }

  /// The learners of an app; nil while nothing is learnt.
  func learned(of id: AppID) -> Learned? { index(of: id).flatMap { learners[Int($0)] } }

  /// Changes what is learnt of an app in place; begins with nothing.
  mutating func learn(of id: AppID, _ change: (inout Learned) -> Void) {
    guard let index = index(of: id).map(Int.init) else { return }
    change(&learners[index, default: Learned()])
  }

  /// Forgets what is learnt of an app.
  mutating func forget(_ id: AppID) {
    if let index = index(of: id) { learners[Int(index)] = nil }
  }

  /// The phase of an app; nil if it is not configured.
  @usableFromInline func phase(of id: AppID) -> Phase? {
    guard let index = index(of: id).map(Int.init), apps[index].sharedPolicy != nil else { return nil }
    return apps[index].phase
  }

  subscript(index: AppIndex) -> App {
    _read { yield apps[Int(index)] }
    _modify { yield &apps[Int(index)] }
  }

  /// The app of an id; nil, and not to be written, if it was never configured.
  subscript(id: AppID) -> App? {
    get { index(of: id).map { apps[Int($0)] } }
    _modify {
      let index = index(of: id).map(Int.init)
      var app = index.map { apps[$0] }
      yield &app
      if let app, let index { apps[index] = app }
    }
  }
}

extension ContiguousArray {
  /// The element at an index, changed in place; a default stands for nil.
  fileprivate subscript<Value>(index: Int, default empty: @autoclosure () -> Value) -> Value
  where Element == Value? {
    get { self[index] ?? empty() }
    _modify {
      var value = self[index].take() ?? empty()
      defer { self[index] = value }
      yield &value
    }
  }
}
