/// The apps, by index in order of id.
///
/// Ids come in by the door of the engine; inside, only indexes travel. An app that was ever configured stays.
@usableFromInline struct AppTable: Sendable {
  private var apps: ContiguousArray<App> = []
  private var known: [AppID: AppIndex] = [:]

  init(restoring states: [AppID: AppState]) {
    reserve(states.count)
    for id in states.keys.sorted() { append(App(id, restoring: states[id] ?? AppState())) }
  }

  /// How many apps were ever configured.
  var count: Int { apps.count }

  var indexes: Range<AppIndex> { 0..<AppIndex(apps.count) }

  /// The index of an app; nil if it was never configured.
  func index(of id: AppID) -> AppIndex? { known[id] }

  func id(at index: AppIndex) -> AppID { apps[Int(index)].id }

  /// Adds new apps; returns the new index of each known app, or nil if no app is new and the indexes stay.
  mutating func add(_ some: some Sequence<AppID>) -> [(from: AppIndex, to: AppIndex)]? {
    let new = some.filter { known[$0] == nil }
    guard !new.isEmpty else { return nil }
    let before = self
    self = AppTable(restoring: [:])
    reserve(before.count + new.count)
    var moves: [(from: AppIndex, to: AppIndex)] = []
    for id in (before.apps.map(\.id) + new).sorted() {
      if let index = before.known[id] {
        moves.append((index, AppIndex(apps.count)))
        append(before.apps[Int(index)])
      } else {
        append(App(id))
      }
    }
    return moves
  }

  /// The table of one known app alone.
  func alone(_ id: AppID) -> AppTable {
    var alone = AppTable(restoring: [:])
    if let index = known[id].map(Int.init) { alone.append(apps[index]) }
    return alone
  }

  private mutating func reserve(_ count: Int) {
    known.reserveCapacity(count)
    apps.reserveCapacity(count)
  }

  private mutating func append(_ app: App) {
    known[app.id] = AppIndex(apps.count)
    apps.append(app)
  }

  /// The policy of an app; nil if no file names the app.
  func policy(of id: AppID) -> Policy? { known[id].flatMap { apps[Int($0)].policy } }

  /// The owner of an app; root if it is not configured.
  func owner(of id: AppID) -> UInt32 { policy(of: id)?.owner ?? 0 }

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

/// The index of an app in ``AppTable``, from 0 in order of id.
///
/// The engine's own tables hold this index and not the id, because it is small and needs no hash.
typealias AppIndex = Int32

/// Collects apps in any order; each may come more than once.
struct AppIndexes {
  private var inserted: [AppIndex] = []

  mutating func insert(_ index: AppIndex) { inserted.append(index) }

  mutating func insert(_ indexes: some Sequence<AppIndex>) { inserted.append(contentsOf: indexes) }

  /// Each app once, in order of id.
  var inOrder: [AppIndex] {
    if zip(inserted, inserted.dropFirst()).allSatisfy(<) { return inserted }
    var indexes: [AppIndex] = []
    for index in inserted.sorted() where indexes.last != index { indexes.append(index) }
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

  /// The value of an app, changed in place; a default stands for nil.
  subscript(index: AppIndex, default empty: @autoclosure () -> Value) -> Value {
    get { self[index] ?? empty() }
    _modify {
      while values.count <= Int(index) { values.append(nil) }
      var value = values[Int(index)].take() ?? empty()
      defer { values[Int(index)] = value }
      yield &value
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

  /// Compares the values; two pointers to one box are equal at once.
  public static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
