import Glibc
import JSON

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

    // The windows of one process in one state are told once.
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
