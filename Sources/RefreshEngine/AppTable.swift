/// The apps by id.
///
/// A dictionary of large values wastes what its free places would hold, which here is more than the apps themselves take;
/// so the dictionary holds places, and the apps lie side by side. An app that was heard of is never forgotten.
struct AppTable: Sendable {
  private var places: [AppID: Int32] = [:]
  private var apps: ContiguousArray<App> = []
  /// What is learnt of the apps, beside them: it is large, and few events touch it.
  private var learners: ContiguousArray<Learned?> = []
  private var names: ContiguousArray<AppID> = []

  init(restoring states: [AppID: AppState], learned: [AppID: Learned]) {
    reserve(states.count)
    for (id, state) in states {
      self[id] = App(restoring: state)
      if let learned = learned[id] { learn(of: id) { $0 = learned } }
    }
  }

  /// How many apps were ever heard of.
  var count: Int { apps.count }

  /// The id of the app at a place, from 0 up to ``count``; a place is kept for good.
  func id(at place: Int) -> AppID { names[place] }

  /// The ids, in no order.
  var ids: some Collection<AppID> { places.keys }

  /// Makes room for as many apps in all.
  mutating func reserve(_ count: Int) {
    places.reserveCapacity(count)
    apps.reserveCapacity(count)
    learners.reserveCapacity(count)
    names.reserveCapacity(count)
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

  /// The app of an id, nil if it was never heard of; writing nil changes nothing.
  subscript(id: AppID) -> App? {
    get { places[id].map { apps[Int($0)] } }
    _modify {
      guard let place = places[id].map(Int.init) else {
        var new: App?
        yield &new
        if let new { add(new, as: id) }
        return
      }
      var app: App? = apps[place]
      yield &app
      if let app { apps[place] = app }
    }
  }

  private mutating func add(_ app: App, as id: AppID) {
    places[id] = Int32(apps.count)
    apps.append(app)
    learners.append(nil)
    names.append(id)
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
