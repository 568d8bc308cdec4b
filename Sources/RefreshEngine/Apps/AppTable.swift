/// The apps, by index in order of id.
///
/// Ids come in by the door of the engine; inside, only indexes travel. An app that was ever configured stays.
@usableFromInline struct AppTable: Sendable {
  private var apps: ContiguousArray<App> = []
  /// The learners of the apps, in an array of their own: they are large, and few events touch them.
  private var learners: ContiguousArray<Learned?> = []
  /// The ids in order, each at its index.
  private(set) var ids: ContiguousArray<AppID> = []
  private var known: [AppID: AppIndex] = [:]

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
  func index(of id: AppID) -> AppIndex? { known[id] }

  func id(at index: AppIndex) -> AppID { ids[Int(index)] }

  /// Adds new apps; true if any was new, and then every index may name another app.
  mutating func add(_ some: some Sequence<AppID>) -> Bool {
    let new = some.filter { known[$0] == nil }
    guard !new.isEmpty else { return false }
    let before = self
    self = AppTable(restoring: [:], learned: [:])
    reserve(before.count + new.count)
    for id in (before.ids + new).sorted() {
      if let index = before.known[id].map(Int.init) {
        append(id, before.apps[index], before.learners[index])
      } else {
        append(id, App(), nil)
      }
    }
    return true
  }

  /// The table of one known app alone.
  func alone(_ id: AppID) -> AppTable {
    var alone = AppTable(restoring: [:], learned: [:])
    if let index = known[id].map(Int.init) { alone.append(id, apps[index], learners[index]) }
    return alone
  }

  private mutating func reserve(_ count: Int) {
    known.reserveCapacity(count)
    apps.reserveCapacity(count)
    learners.reserveCapacity(count)
    ids.reserveCapacity(count)
  }

  private mutating func append(_ id: AppID, _ app: App, _ learned: Learned?) {
    known[id] = AppIndex(apps.count)
    apps.append(app)
    learners.append(learned)
    ids.append(id)
  }

  /// Keeps the text of an equal id in place of its own, so that the text is in memory once.
  mutating func share(_ id: AppID) {
    guard let index = known.removeValue(forKey: id) else { return }
    known[id] = index
    ids[Int(index)] = id
  }

  /// The learners of an app; nil while nothing is learnt.
  func learned(of index: AppIndex) -> Learned? { learners[Int(index)] }

  /// Changes what is learnt of an app in place; begins with nothing.
  mutating func learn(of index: AppIndex, _ change: (inout Learned) -> Void) {
    change(&learners[Int(index), default: Learned()])
  }

  /// Forgets what is learnt of an app.
  mutating func forget(_ index: AppIndex) { learners[Int(index)] = nil }

  /// The phase of an app; nil if it is not configured.
  @usableFromInline func phase(of id: AppID) -> Phase? {
    guard let index = known[id].map(Int.init), apps[index].sharedPolicy != nil else { return nil }
    return apps[index].phase
  }

  subscript(index: AppIndex) -> App {
    // With `_read`, Swift 6.3.1 reads the app after its release in optimised code.
    get { apps[Int(index)] }
    _modify { yield &apps[Int(index)] }
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
