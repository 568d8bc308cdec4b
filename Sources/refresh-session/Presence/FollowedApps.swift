import RefreshAPI

/// The apps that a daemon wants to know about, with the dwell of each.
struct FollowedApps {
  private struct AppSeen {
    let app: Wire.FollowedApp
    var dwell = Dwell()
  }

  /// The state of an app's windows.
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
  /// The indices of the apps by desktop id, and by desktop id in lower case.
  private var (indices, smallIndices): ([String: [Int]], [String: [Int]]) = ([:], [:])

  /// Replaces the apps by the daemon's list; an app that stays keeps its dwell.
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

  /// The desktop ids of all followed apps.
  var ids: Set<String> { Set(indices.keys) }

  /// The time at which the state of an app changes by itself, boot clock; nil if none does.
  var wake: Int64? { apps.compactMap(\.dwell.changesAt).min() }

  /// The running apps and whether each is in front, at an instant of the boot clock.
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

  /// The apps of a window: by its names in any case, by the classes and programs of desktop files, or else by its unit.
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

/// The state of a session's desktop at one moment.
struct Desk {
  /// The desktop ids of the apps that run in a unit or own a bus name.
  var running: Set<String> = []
  /// The windows that are open.
  var windows: [OpenWindow] = []
  /// The map from window classes to desktop ids.
  var classes = WindowClasses()
  /// Whether the user is at the machine.
  var isThere = true
}

/// Debounces whether an app is in front: it must be in front for a moment, and away for a moment.
///
/// Alt-Tab passes ten windows in a second, and a compositor may remove the focus for a millisecond.
struct Dwell: Hashable, Sendable {
  /// The time in front until an app counts as in front, and the time away until it does not, in microseconds.
  static let (begins, ends): (Int64, Int64) = (500_000, 300_000)

  /// Whether the app counts as in front.
  private(set) var isFront = false
  /// The time at which that changes by itself, boot clock; nil if it does not.
  private(set) var changesAt: Int64?

  /// Applies whether the app is in front, and whether the user is at the machine, at an instant of the boot clock.
  mutating func update(isShown: Bool, isThere: Bool, at now: Int64) {
    guard isThere else {
      (isFront, changesAt) = (false, nil)
      return
    }
    guard isShown != isFront else { return changesAt = nil }
    let end = changesAt ?? now + (isShown ? Self.begins : Self.ends)
    guard end <= now else { return changesAt = end }
    (isFront, changesAt) = (isShown, nil)
  }
}
