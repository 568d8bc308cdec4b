import RefreshAPI
import Systemd

/// The windows that GNOME Shell reports through the extension that comes with refreshd and that the user enables.
final class GnomeWindows: OpenWindows {
  private static let shell = "org.gnome.Shell"
  /// The first version of GNOME Shell whose extensions are ECMAScript modules.
  private static let firstOfModules = 45

  private let changed: () -> Void
  private var windows: BusObject?
  private var version: BusObject?

  init(_ bus: Bus, changed: @escaping () -> Void) throws(SystemdError) {
    self.changed = changed
    windows = try BusObject(
      Self.shell, called: "GNOME Shell", path: "/org/refreshd/Windows", interface: "org.refreshd.Windows",
      wanted: ["Windows"], on: bus)
    version = try BusObject(
      Self.shell, called: "GNOME Shell", path: "/org/gnome/Shell", interface: "org.gnome.Shell",
      wanted: ["ShellVersion"], on: bus)
    for object in [windows, version] { object?.onChange = { [unowned self] in self.changed() } }
  }

  var kind: Wire.WindowSource { rows == nil ? .none : .gnome }

  var open: [OpenWindow] {
    (rows ?? []).prefix(OpenWindow.most).compactMap { row in
      guard let fields = row.elements, fields.count == 3, let state = fields[0].integer,
        let process = fields[1].integer,
        let names = fields[2].elements
      else { return nil }
      return OpenWindow(state: state, process: process, names: names.compactMap(\.text))
    }
  }

  var isSettled: Bool { windows?.state != .asked && version?.state != .asked }

  var remedy: String? {
    guard kind == .none, case .known(let properties) = version?.state else { return nil }
    let number = properties["ShellVersion"]?.text.flatMap { Int($0.prefix { $0.isNumber }) } ?? Self.firstOfModules
    return """
      the GNOME extension is not enabled: run gnome-extensions enable \(Self.extension(for: number)), after a new login if it \
      was just installed
      """
  }

  /// The name of the extension for a version of GNOME Shell.
  private static func `extension`(for version: Int) -> String {
    version < firstOfModules ? "windows-43@refreshd" : "windows@refreshd"
  }

  private var rows: [BusValue]? {
    guard case .known(let properties) = windows?.state else { return nil }
    return properties["Windows"]?.elements
  }
}
