/// The apps, by index in order of id.
///
/// Ids come in by the door of the engine; inside, only indexes travel. An app that was ever configured stays.
@usableFromInline struct AppTable: Sendable {
  private var apps: ContiguousArray<App> = []
  /// The learners of the apps, in an array of their own: they are large, and few events touch them.
  private var learners: ContiguousArray<Learned?> = []
  private var known: [AppID: AppIndex] = [:]

  init(restoring states: [AppID: AppState], learned: [AppID: Learned]) {
    reserve(states.count)
    for id in states.keys.sorted() {
      append(App(id, state: states[id] ?? AppState()), learned[id])
    }
  }

  /// How many apps were ever configured.
  var count: Int { apps.count }

  var indexes: Range<AppIndex> { 0..<AppIndex(apps.count) }

  /// The index of an app; nil if it was never configured.
  func index(of id: AppID) -> AppIndex? { known[id] }

  func id(at index: AppIndex) -> AppID { apps[Int(index)].id }

  /// Adds new apps; true if any was new, and then every index may name another app.
  mutating func add(_ some: some Sequence<AppID>) -> Bool {
    let new = some.filter { known[$0] == nil }
    guard !new.isEmpty else { return false }
    let before = self
    self = AppTable(restoring: [:], learned: [:])
    reserve(before.count + new.count)
    for id in (before.apps.map(\.id) + new).sorted() {
      if let index = before.known[id].map(Int.init) {
        append(before.apps[index], before.learners[index])
      } else {
        append(App(id), nil)
      }
    }
    return true
  }

  /// The table of one known app alone.
  func alone(_ id: AppID) -> AppTable {
    var alone = AppTable(restoring: [:], learned: [:])
    if let index = known[id].map(Int.init) { alone.append(apps[index], learners[index]) }
    return alone
  }

  private mutating func reserve(_ count: Int) {
    known.reserveCapacity(count)
    apps.reserveCapacity(count)
    learners.reserveCapacity(count)
  }

  private mutating func append(_ app: App, _ learned: Learned?) {
    known[app.id] = AppIndex(apps.count)
    apps.append(app)
    learners.append(learned)
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

/// The index of an app in ``AppTable``, from 0 in order of id.
///
/// The engine's own tables hold this index and not the id, because it is small and needs no hash.
typealias AppIndex = Int32

/// Collects apps in any order; each may come more than once.
struct AppIndexes {
  private var noted: [AppIndex] = []

  mutating func insert(_ index: AppIndex) { noted.append(index) }

  mutating func insert(_ indexes: some Sequence<AppIndex>) { noted.append(contentsOf: indexes) }

  /// Each app once, in order of id.
  var inOrder: [AppIndex] {
    if zip(noted, noted.dropFirst()).allSatisfy(<) { return noted }
    var indexes: [AppIndex] = []
    for index in noted.sorted() where indexes.last != index { indexes.append(index) }
    return indexes
  }
}

/// An optional value for each app.
struct PerApp<Value: Sendable>: Sendable {
  private var values: ContiguousArray<Value?> = []

  subscript(index: AppIndex) -> Value? {
    get { Int(index) < values.count ? values[Int(index)] : nil }
    set {
      while values.count <= Int(index) { values.append(nil) }
      values[Int(index)] = newValue
    }
  }
}

/// A flag for each app; false until it is set.
struct AppFlags {
  private var flags: ContiguousArray<Bool> = []

  subscript(index: AppIndex) -> Bool {
    get { Int(index) < flags.count && flags[Int(index)] }
    set {
      guard newValue != self[index] else { return }
      while flags.count <= Int(index) { flags.append(false) }
      flags[Int(index)] = newValue
    }
  }

  /// The apps whose flag is set, in order of id.
  var all: some Sequence<AppIndex> {
    flags.lazy.enumerated().compactMap { index, isSet in isSet ? AppIndex(index) : nil }
  }
}

/// A value behind a pointer: a part that few apps have, or that many apps share.
public final class Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
  /// The value in the box.
  public let value: Value

  /// Puts a value into a new box.
  public init(_ value: Value) { self.value = value }

  /// Compares the values; two pointers to one box are equal without a look.
  public static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
