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
  private struct AppSeen {
    let app: Wire.FollowedApp
    var dwell = Dwell()
  }

  /// How the windows of an app are.
  private struct Shown {
    var isOpen = false
    var isFocused = false

    mutating func add(_ window: OpenWindow) {
      guard !window.isMinimised else { return }
      isOpen = true
      if window.isFocused { isFocused = true }
    }
  }

  private var apps: [AppSeen] = []
  /// The apps of each desktop id, and of each in small letters, by their indices.
  private var (indices, smallIndices): ([String: [Int]], [String: [Int]]) = ([:], [:])

  /// Takes a list of the daemon; an app that was there before keeps how it was seen.
  mutating func replace(by list: [Wire.FollowedApp]) {
    let before = Dictionary(apps.map { ($0.app.app, $0.dwell) }, uniquingKeysWith: { first, _ in first })
    apps = list.map { AppSeen(app: $0, dwell: before[$0.app] ?? Dwell()) }
    (indices, smallIndices) = ([:], [:])
    for (index, app) in apps.enumerated() {
      for id in Set(app.app.desktop) {
        indices[id, default: []].append(index)
        smallIndices[id.lowercased(), default: []].append(index)
      }
    }
  }

  /// The desktop ids of all of them.
  var ids: Set<String> { Set(indices.keys) }

  /// When an app counts in another way although nothing happens, boot clock; nil when none does.
  var wake: Int64? { apps.compactMap(\.dwell.changesAt).min() }

  /// The apps that run, as they are seen at an instant, boot clock.
  mutating func look(at desk: Desk, _ now: Int64) -> [Wire.ObservedApp] {
    var seen: [Wire.ObservedApp] = []
    var shown: [Int: Shown] = [:]
    for window in desk.windows {
      for index in indices(of: window, desk.classes) {
        shown[index, default: Shown()].add(window)
      }
    }
    let running = Set(desk.running.flatMap { indices[$0] ?? [] })
    for index in apps.indices {
      let windows = shown[index]
      let isShown =
        switch apps[index].app.front {
        case .focused: windows?.isFocused == true
        case .open: windows?.isOpen == true
        }
      apps[index].dwell.update(isShown: isShown, isThere: desk.isThere, at: now)
      guard windows != nil || running.contains(index) || apps[index].dwell.isFront else { continue }
      seen.append(Wire.ObservedApp(app: apps[index].app.app, isFront: apps[index].dwell.isFront))
    }
    return seen
  }

  /// The apps that a window is of, by its own names, without regard to case, or by the class or the program that a desktop
  /// file names; else by its unit, where that says more than these.
  private func indices(of window: OpenWindow, _ classes: WindowClasses) -> Set<Int> {
    var found: Set<Int> = []
    for name in window.names {
      found.formUnion(indices[name] ?? [])
      let small = name.lowercased()
      found.formUnion(smallIndices[small] ?? [])
      if window.unit == nil, let id = classes.ids[small] { found.formUnion(indices[id] ?? []) }
    }
    guard found.isEmpty, let unit = window.unit else { return found }
    return Set(indices[unit] ?? [])
  }
}
