/// The apps by id, and by their places in order of id.
///
/// A dictionary of large values wastes what its free places would hold, which here is more than the apps themselves take;
/// so the dictionary holds places, and the apps lie side by side. An app that was heard of is never forgotten.
struct AppTable: Sendable {
  private var places: [AppID: Place] = [:]
  private var apps: ContiguousArray<App> = []
  /// What is learnt of the apps, beside them: it is large, and few events touch it.
  private var learners: ContiguousArray<Learned?> = []
  /// The ids in order, each at its place.
  private(set) var ids: ContiguousArray<AppID> = []

  init(restoring states: [AppID: AppState], learned: [AppID: Learned]) {
    reserve(states.count)
    for id in states.keys.sorted() {
      append(id, App(state: states[id] ?? AppState()), learned[id])
    }
  }

  /// How many apps were ever heard of.
  var count: Int { apps.count }

  /// The place of each app.
  var allPlaces: Range<Place> { 0..<Place(apps.count) }

  /// The place of an app; nil if it was never heard of.
  func place(of id: AppID) -> Place? { places[id] }

  /// The id of the app at a place.
  func id(at place: Place) -> AppID { ids[Int(place)] }

  /// Takes in the apps that it has not heard of, and says whether there were any: every place may be another app's then.
  mutating func add(_ some: some Sequence<AppID>) -> Bool {
    let new = some.filter { places[$0] == nil }
    guard !new.isEmpty else { return false }
    let before = self
    self = AppTable(restoring: [:], learned: [:])
    reserve(before.count + new.count)
    for id in (before.ids + new).sorted() {
      if let place = before.places[id] {
        append(id, before.apps[Int(place)], before.learners[Int(place)])
      } else {
        append(id, App(), nil)
      }
    }
    return true
  }

  private mutating func reserve(_ count: Int) {
    places.reserveCapacity(count)
    apps.reserveCapacity(count)
    learners.reserveCapacity(count)
    ids.reserveCapacity(count)
  }

  private mutating func append(_ id: AppID, _ app: App, _ learned: Learned?) {
    places[id] = Place(apps.count)
    apps.append(app)
    learners.append(learned)
    ids.append(id)
  }

  /// What is learnt of an app; nil if nothing is.
  func learned(of id: AppID) -> Learned? { places[id].flatMap { learners[Int($0)] } }

  /// Changes what is learnt of an app, beginning with nothing; does so in place.
  mutating func learn(of id: AppID, _ change: (inout Learned) -> Void) {
    guard let place = places[id].map(Int.init) else { return }
    change(&learners[place, default: Learned()])
  }

  /// Forgets what is learnt of an app.
  mutating func forget(_ id: AppID) {
    if let place = places[id] { learners[Int(place)] = nil }
  }

  /// The app at a place.
  subscript(place: Place) -> App {
    _read { yield apps[Int(place)] }
    _modify { yield &apps[Int(place)] }
  }

  /// The app of an id, nil if it was never heard of; writing changes one that was only.
  subscript(id: AppID) -> App? {
    get { places[id].map { apps[Int($0)] } }
    _modify {
      let place = places[id].map(Int.init)
      var app = place.map { apps[$0] }
      yield &app
      if let app, let place { apps[place] = app }
    }
  }
}

extension ContiguousArray {
  /// The element at a place, changed in place; a default takes the place of nil.
  fileprivate subscript<Value>(place: Int, default empty: @autoclosure () -> Value) -> Value
  where Element == Value? {
    get { self[place] ?? empty() }
    _modify {
      var value = self[place].take() ?? empty()
      defer { self[place] = value }
      yield &value
    }
  }
}
