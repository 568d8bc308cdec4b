/// The apps by id.
///
/// A dictionary of large values wastes what its free places would hold, which here is more than the apps themselves take;
/// so the dictionary holds places, and the apps lie side by side. An app that was heard of is never forgotten.
struct AppTable: Sendable {
  private var places: [AppID: Int32] = [:]
  private var apps: ContiguousArray<App> = []

  init(restoring states: [AppID: AppState]) {
    reserve(states.count)
    for (id, state) in states { self[id] = App(restoring: state) }
  }

  /// The ids, in no order.
  var ids: some Collection<AppID> { places.keys }

  /// Makes room for as many apps in all.
  mutating func reserve(_ count: Int) {
    places.reserveCapacity(count)
    apps.reserveCapacity(count)
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
  }
}
