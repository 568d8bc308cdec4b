import RefreshAPI

/// A call that a key requests.
enum TopRequest: Hashable {
  case quit, redraw, pause, resume
  case why(String)
  case run(String)
  case disable(String)
  case enable(String)
  case signal(String, Wire.LifecycleSignal)
}

/// The state of the live screen, which keys and replies change.
struct TopState {
  enum Page: Hashable {
    case list, help
    /// The explanation of an app; nil before it arrives.
    case why(String, Wire.Explanation?)
  }

  /// The connection to the daemon.
  enum LinkState {
    case connected, lost, silent
  }

  struct KeyAnswer: Hashable {
    let text: String
    let style: Style
  }

  /// The lines by which a page key scrolls.
  private static let linesOfAPage = 10

  var page = Page.list
  /// The first shown line of a page that is longer than the screen.
  var scroll = 0
  private(set) var filter = ""
  /// Whether keys edit the filter.
  private(set) var isFiltering = false
  /// The reply to the last key that requested something.
  var message: KeyAnswer?
  var link = LinkState.connected
  var pause: Wire.PauseState?
  /// The reply of List; nil before the first.
  private(set) var list: ManagerInterface.List.Reply?
  /// The app to which keys apply.
  private(set) var selection: String?

  /// The apps that match the filter.
  var apps: [Wire.App] {
    let apps = list?.apps ?? []
    guard !filter.isEmpty else { return apps }
    let text = filter.lowercased()
    return apps.filter { Self.contains(text, $0.id) || Self.contains(text, $0.name) }
  }

  var selected: Wire.App? { apps.first { $0.id == selection } }

  /// The app of an action: that of the page, or else the selected one.
  var subject: Wire.App? {
    switch page {
    case .list: selected
    case .why(let id, _): list?.apps.first { $0.id == id }
    case .help: nil
    }
  }

  /// Shows a new list; the selection stays on its app, or on the row where the app was.
  mutating func show(_ new: ManagerInterface.List.Reply) {
    let row = apps.firstIndex { $0.id == selection } ?? 0
    list = new
    keepSelection(near: row)
  }

  /// Shows an explanation, if its page is still open.
  mutating func show(_ why: Wire.Explanation) {
    if case .why(why.id, _) = page { page = .why(why.id, why) }
  }

  mutating func say(_ text: String, _ style: Style = .plain) { message = KeyAnswer(text: text, style: style) }

  /// Applies a key, and returns the request that it makes.
  mutating func press(_ key: TopKey) -> TopRequest? {
    message = nil
    if key == .redraw { return .redraw }
    if isFiltering {
      write(key)
      return nil
    }
    switch page {
    case .list: return pressInList(key)
    case .help, .why: return pressOnPage(key)
    }
  }

  private mutating func pressInList(_ key: TopKey) -> TopRequest? {
    switch key {
    case .up, .character("k"): move(-1)
    case .down, .character("j"): move(1)
    case .pageUp: move(-Self.linesOfAPage)
    case .pageDown, .character(" "): move(Self.linesOfAPage)
    case .home, .character("g"): move(-apps.count)
    case .end, .character("G"): move(apps.count)
    case .character("/"): isFiltering = true
    case .character("?"): (page, scroll) = (.help, 0)
    case .character("q"): return .quit
    case .escape: refilter("")
    case .enter, .character("w"):
      guard let app = selected?.id else { return nil }
      (page, scroll) = (.why(app, nil), 0)
      return .why(app)
    default: return action(of: key, on: subject?.id)
    }
    return nil
  }

  private mutating func pressOnPage(_ key: TopKey) -> TopRequest? {
    switch key {
    case .up, .character("k"): scroll -= 1
    case .down, .character("j"), .enter: scroll += 1
    case .pageUp: scroll -= Self.linesOfAPage
    case .pageDown, .character(" "): scroll += Self.linesOfAPage
    case .home, .character("g"): scroll = 0
    case .end, .character("G"): scroll = Int(Int32.max)
    case .character("q"), .escape, .backspace: page = .list
    case .character("?"): (page, scroll) = (.help, 0)
    default: return action(of: key, on: subject?.id)
    }
    scroll = max(0, scroll)
    return nil
  }

  /// The action of a key on an app in its present state; the same key later undoes the action.
  func action(of key: TopKey, on id: String?) -> TopRequest? {
    if key == .character("p") { return pause == nil ? .pause : .resume }
    guard let app = list?.apps.first(where: { $0.id == id }) else { return nil }
    switch key {
    case .character("r"): return .run(app.id)
    case .character("d"): return app.isDisabled ? .enable(app.id) : .disable(app.id)
    case .character("f"): return .signal(app.id, app.phase == .foreground ? .background : .foreground)
    default: return nil
    }
  }

  /// Applies a key to the filter.
  private mutating func write(_ key: TopKey) {
    switch key {
    case .enter: isFiltering = false
    case .escape:
      isFiltering = false
      refilter("")
    case .backspace: refilter(String(filter.dropLast()))
    case .up: move(-1)
    case .down: move(1)
    case .character(let character): refilter(filter + String(character))
    default: break
    }
  }

  private mutating func refilter(_ text: String) {
    filter = text
    keepSelection(near: 0)
  }

  private mutating func move(_ rows: Int) {
    let apps = apps
    guard !apps.isEmpty else { return }
    let row = apps.firstIndex { $0.id == selection } ?? 0
    selection = apps[min(max(0, row + rows), apps.count - 1)].id
  }

  private mutating func keepSelection(near row: Int) {
    let apps = apps
    guard !apps.contains(where: { $0.id == selection }), !apps.isEmpty else { return }
    selection = apps[min(row, apps.count - 1)].id
  }

  private static func contains(_ text: String, _ name: String) -> Bool { name.lowercased().contains(text) }
}

extension Wire.App {
  /// Whether the user has disabled the app.
  var isDisabled: Bool { (holds + (next?.holds ?? [])).contains { $0.name == "disabled" } }
}
