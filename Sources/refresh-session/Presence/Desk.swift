import RefreshAPI

/// All that a session shows at one moment.
struct Desk {
  /// The desktop ids of the apps of which a unit or a bus name is there.
  var running: Set<String> = []
  /// The windows that are open.
  var windows: [OpenWindow] = []
  /// The desktop ids of window classes.
  var classes = WindowClasses()
  /// Whether somebody is there.
  var isThere = true
}

/// The apps that a daemon wants to know about, and how each is seen.
struct FollowedApps {
  private struct App {
    let app: Wire.FollowedApp
    let ids: Set<String>
    var dwell = Dwell()
  }

  private var apps: [App] = []

  /// Takes a list of the daemon; an app that was there before keeps how it was seen.
  mutating func replace(by list: [Wire.FollowedApp]) {
    let before = Dictionary(apps.map { ($0.app.app, $0.dwell) }, uniquingKeysWith: { first, _ in first })
    apps = list.map { App(app: $0, ids: Set($0.desktop), dwell: before[$0.app] ?? Dwell()) }
  }

  /// The desktop ids of all of them.
  var ids: Set<String> { apps.reduce(into: []) { $0.formUnion($1.ids) } }

  /// When an app counts in another way although nothing happens, boot clock; nil when none does.
  var wake: Int64? { apps.compactMap(\.dwell.changesAt).min() }

  /// The apps that run, as they are seen at an instant, boot clock.
  mutating func look(at desk: Desk, _ now: Int64) -> [Wire.ObservedApp] {
    var seen: [Wire.ObservedApp] = []
    for index in apps.indices {
      let app = apps[index]
      let windows = desk.windows.filter { $0.isOf(app.ids, desk.classes) }
      let isShown =
        switch app.app.front {
        case .focused: windows.contains { $0.isFocused && !$0.isMinimised }
        case .open: windows.contains { !$0.isMinimised }
        }
      apps[index].dwell.update(isShown: isShown, isThere: desk.isThere, at: now)
      guard !windows.isEmpty || !app.ids.isDisjoint(with: desk.running) || apps[index].dwell.isFront else { continue }
      seen.append(Wire.ObservedApp(app: app.app.app, isFront: apps[index].dwell.isFront))
    }
    return seen
  }
}
