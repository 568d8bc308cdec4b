import Glibc
import JSON
import RefreshAPI
import Systemd

/// The windows that KWin reports by a script that runs in it and calls back on the bus.
///
/// The script is loaded while it is wanted, loaded again after each start of KWin, and then unloaded. It ends with KWin. A
/// script that a killed process left behind is unloaded before the new one is loaded.
final class KWinWindows: OpenWindows {
  private static let service = "org.kde.KWin"
  private static let (path, interface) = ("/Scripting", "org.kde.kwin.Scripting")
  /// The longest wait for KWin to run the script, with all retries, and the pause between retries, in microseconds.
  private static let (patience, pause) = (Int64(5_000_000), Int64(250_000))

  private enum State {
    /// KWin is absent, or its script is not wanted.
    case absent
    /// The script is being loaded.
    case loading
    /// The script reports windows.
    case watching
    /// KWin did not run the script; the reason follows "KWin …".
    case refused(String)
  }

  private let file: KWinScriptFile
  private let bus: Bus
  private let journal: Journal
  private let changed: () -> Void
  private var listener: BusListener?
  private var receiver: BusListener?
  private var watch: BusWatch?
  private var timer: TimerSource?
  /// The time by which the script must run, boot clock, in microseconds.
  private var end: Int64 = 0
  private var call: BusCall?
  private var state = State.absent
  /// The unique name of KWin; nil if KWin is absent, empty until it is known.
  private var owner: String? = ""
  private(set) var open: [OpenWindow] = []
  /// Whether the last report could not be read.
  private var isUnreadable = false

  init(
    _ settings: SessionSettings, _ bus: Bus, on loop: EventLoop, _ journal: Journal, changed: @escaping () -> Void
  ) throws(SystemdError) {
    (self.bus, self.journal, self.changed) = (bus, journal, changed)
    file = KWinScriptFile(isList: settings.purpose == .list, runtime: settings.runtime)
    timer = try loop.timer { [unowned self] in timePassed() }
    receiver = bus.receive(
      path: KWinScriptFile.object, interface: KWinScriptFile.interface, name: KWinScriptFile.method
    ) {
      [unowned self] in handleReport($1, from: $0)
    }
    listener = bus.listen(to: .ownerChanged(of: Self.service)) { [unowned self] values in
      if values.count == 3, let name = values[2].text { set(owner: name.isEmpty ? nil : name) }
    }
    watch = bus.watch { [unowned self] in busChanged($0) }
  }

  /// Whether the script should run.
  var isWanted = false {
    didSet {
      guard isWanted != oldValue else { return }
      if isWanted { begin() } else { unload() }
    }
  }

  var kind: Wire.WindowSource {
    if case .watching = state { .kwin } else { .none }
  }

  var isSettled: Bool {
    switch state {
    case .loading: false
    case .absent: owner?.isEmpty != true && (owner == nil || !isWanted)
    case .watching, .refused: true
    }
  }

  var remedy: String? {
    if case .refused(let reason) = state { "KWin \(reason); restart refresh-session to try again" } else { nil }
  }

  // MARK: - KWin comes and goes

  private func busChanged(_ state: Bus.State) {
    switch state {
    case .connecting: owner = ""
    case .absent: set(owner: nil)
    case .connected:
      let method = BusMethod(
        "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", name: "GetNameOwner",
        arguments: [.string(Self.service)])
      call = bus.call(method) { [unowned self] answer in
        guard case .success(let values) = answer else { return set(owner: nil) }
        set(owner: values.first?.text)
      }
    }
  }

  private func set(owner: String?) {
    guard owner != self.owner else { return }
    self.owner = owner
    forget()
    if isWanted { begin() }
    changed()
  }

  private func forget() {
    timer?.disarm()
    (state, open, call) = (.absent, [], nil)
    file.remove()
  }

  private func refuse(_ reason: String) {
    guard case .loading = state else { return }
    forget()
    state = .refused(reason)
    journal.write(JournalEntry("cannot see windows: KWin \(reason)", priority: .warning))
    changed()
  }

  // MARK: - The script

  private func begin() {
    guard owner?.isEmpty == false, let name = bus.uniqueName else { return }
    guard let path = file.write(callingBack: name) else {
      state = .refused("cannot get a script: XDG_RUNTIME_DIR is not set, or cannot be written to")
      return
    }
    state = .loading
    end = EventLoop.bootMicroseconds() + Self.patience
    load(path)
  }

  /// Loads the script; first unloads a script of the same name, because a killed process may have left one.
  private func load(_ path: String) {
    call = bus.call(method("unloadScript", [.string(file.name)])) { [unowned self] _ in
      call = bus.call(method("loadScript", [.string(path), .string(file.name)])) { [unowned self] answer in
        guard case .success(let values) = answer, let number = values.first?.integer, number >= 0 else {
          return tryAgain()
        }
        // KWin 6 uses the first path, KWin 5 the second.
        run(["/Scripting/Script\(number)", "/\(number)"])
      }
    }
    // The script may never call.
    timer?.arm(at: end, accuracy: Self.pause / 4)
  }

  /// Retries after a pause, because KWin owns its bus name before it accepts scripts.
  private func tryAgain() { timer?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: Self.pause / 4) }

  private func timePassed() {
    guard EventLoop.bootMicroseconds() < end, let path = file.path else { return refuse("does not run our script") }
    load(path)
  }

  private func run(_ paths: ArraySlice<String>) {
    guard let path = paths.first else { return tryAgain() }
    call = bus.call(BusMethod(Self.service, path: path, interface: "org.kde.kwin.Script", name: "run")) {
      [unowned self] answer in
      if case .failure = answer { run(paths.dropFirst()) }
    }
  }

  private func unload() {
    switch state {
    case .loading, .watching, .refused: bus.send(method("unloadScript", [.string(file.name)]))
    case .absent: break
    }
    forget()
  }

  private func method(_ name: String, _ arguments: [BusArgument]) -> BusMethod {
    BusMethod(Self.service, path: Self.path, interface: Self.interface, name: name, arguments: arguments)
  }

  /// Handles a report of the script; only KWin may send it.
  private func handleReport(_ values: [BusValue], from sender: String) -> Bool {
    guard sender == owner else { return false }
    guard values.count == 1, let text = values[0].text, let rows = KWinScriptFile.windows(in: text) else {
      reportUnreadable()
      return false
    }
    isUnreadable = false
    switch state {
    // Answer a script that is no longer wanted.
    case .absent: return true
    // A slow KWin may run the script after the wait.
    case .loading, .refused:
      timer?.disarm()
      file.remove()
      state = .watching
    case .watching: break
    }
    open = rows
    changed()
    return true
  }

  /// Writes once in a row to the journal that a report of the script cannot be read; the last windows stay in force.
  private func reportUnreadable() {
    guard !isUnreadable else { return }
    isUnreadable = true
    let remedy = "restart refresh-session, and report a bug in refreshd if it happens again"
    journal.write(
      JournalEntry(
        "cannot read the windows that KWin's script reports, and keeps the last ones; \(remedy)", priority: .warning))
  }
}

/// The script that KWin runs for this program, in a file that KWin can read.
///
/// The file is written for each load, because a script has no arguments and must know its receiver.
final class KWinScriptFile {
  /// The object and the method that the script calls, with the windows as one text.
  static let (object, interface, method) = ("/org/refreshd/Windows", "org.refreshd.Windows", "Show")
  /// The most bytes of that text.
  private static let longest = 1 << 20

  /// The name of the script in KWin; `--list` has a script of its own.
  let name: String
  /// The path of the file; nil if there is no folder for it.
  let path: String?
  private var isWritten = false

  init(isList: Bool, runtime: String?) {
    name = isList ? "refresh-session-list-\(getpid())" : "refresh-session"
    path = runtime.map { [name] in "\($0)/\(name).js" }
  }

  deinit { remove() }

  /// Writes the script that calls a name on the bus; returns nil on failure.
  func write(callingBack receiver: String) -> String? {
    guard let path else { return nil }
    unlink(path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    isWritten = true
    let text = "const receiver = \"\(receiver)\";\n\(Self.script)"
    let bytes = Array(text.utf8)
    let count = Glibc.write(descriptor, bytes, bytes.count)
    close(descriptor)
    guard count == bytes.count else {
      remove()
      return nil
    }
    return path
  }

  /// Removes the file; KWin reads it only once.
  func remove() {
    guard isWritten, let path else { return }
    unlink(path)
    isWritten = false
  }

  /// The windows in a text of the script, a list of `[state, process, name, …]`; nil for any other text.
  static func windows(in text: String) -> [OpenWindow]? {
    guard text.utf8.count <= longest, let value = try? JSONValue(jsonText: Array(text.utf8)),
      case .list(let rows) = value
    else { return nil }
    return rows.prefix(OpenWindow.most).compactMap { row in
      guard case .list(let fields) = row, fields.count > 1, case .number(let state) = fields[0],
        case .number(let process) = fields[1], let state = Int(state), let process = Int(process)
      else { return nil }
      let names = fields.dropFirst(2).compactMap { if case .text(let name) = $0 { name } else { nil } }
      return OpenWindow(state: state, process: process, names: names)
    }
  }

  /// The script for KWin 5 and 6, which reads no titles.
  private static let script = """
    const isSix = workspace.windowList !== undefined;
    let last = "";

    // The windows of one process in one state are reported once.
    function tell(closed) {
      const focused = isSix ? workspace.activeWindow : workspace.activeClient;
      const rows = {};
      for (const window of isSix ? workspace.windowList() : workspace.clientList()) {
        if (window === closed || window.deleted || window.managed === false) continue;
        const state = window === focused ? 2 : window.minimized ? 0 : 1;
        const names = [window.desktopFileName, window.resourceClass, window.resourceName].filter(Boolean).map(String);
        const row = JSON.stringify([state, window.pid || 0].concat(names));
        rows[row] = true;
      }
      const text = "[" + Object.keys(rows).join(",") + "]";
      if (text === last) return;
      last = text;
      callDBus(receiver, "\(object)", "\(interface)", "\(method)", text);
    }

    function follow(window) {
      for (const name of ["minimizedChanged", "desktopFileNameChanged", "windowClassChanged"]) {
        if (window[name] && window[name].connect) window[name].connect(() => tell());
      }
    }

    function added(window) {
      follow(window);
      tell();
    }

    (isSix ? workspace.windowAdded : workspace.clientAdded).connect(added);
    (isSix ? workspace.windowRemoved : workspace.clientRemoved).connect(window => tell(window));
    (isSix ? workspace.windowActivated : workspace.clientActivated).connect(() => tell());
    (isSix ? workspace.windowList() : workspace.clientList()).forEach(follow);
    tell();
    """
}
