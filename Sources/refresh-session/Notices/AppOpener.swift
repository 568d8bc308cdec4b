import Glibc
import RefreshAPI
import Systemd

/// Opens apps by their desktop files, as the desktop does: by D-Bus, or as a unit of the user's manager.
final class AppOpener {
  /// The longest wait for an app's answer, including its start, in microseconds.
  private static let patience: Int64 = 20_000_000

  private let bus: Bus
  private let folders: [String]
  private var last = 0
  private var call: BusCall?
  /// Called with the reason why an app could not be opened; set once.
  var onFailure: (String) -> Void = { _ in }

  /// Makes an opener that looks for desktop files in `folders`; earlier folders take precedence.
  init(_ bus: Bus, folders: [String]) { (self.bus, self.folders) = (bus, folders) }

  /// Whether the app has a desktop file that can open it.
  func canOpen(_ id: String) -> Bool { method(toOpen: id) != nil }

  /// Opens the app of a desktop id.
  func open(_ id: String) {
    last += 1
    guard let method = method(toOpen: id) else { return }
    call = bus.call(method, timeout: Self.patience) { [unowned self] answer in
      call = nil
      if case .failure(let error) = answer { onFailure("cannot open \(id): \(error)") }
    }
  }

  private func method(toOpen id: String) -> BusMethod? {
    // An id with a slash would name a file elsewhere.
    guard !id.contains("/"), let entry = entry(of: id), entry["Terminal"] != "true" else { return nil }
    if entry["DBusActivatable"] == "true", id.isBusName {
      return BusMethod(
        id, path: BusPath.ofApplication(id), interface: "org.freedesktop.Application", name: "Activate",
        arguments: [.dictionary([])],
        startsService: true)
    }
    guard let command = entry.command else { return nil }
    let execution: BusArgument = .array(
      of: "(sasb)", [.structure([.string(command[0]), .strings(command), .boolean(false)])])
    let properties: [BusArgument] = [
      property("Description", .string(entry["Name"] ?? id)), property("ExecStart", execution),
      property("CollectMode", .string("inactive-or-failed")), property("Slice", .string("app.slice")),
    ]
    return BusMethod(
      UserUnits.manager, path: UserUnits.path, interface: UserUnits.interface, name: "StartTransientUnit",
      arguments: [
        .string("app-refreshd-\(DesktopUnit.escaped(id))@\(getpid())-\(last).service"), .string("fail"),
        .array(of: "(sv)", properties), .array(of: "(sa(sv))", []),
      ])
  }

  private func property(_ name: String, _ value: BusArgument) -> BusArgument {
    .structure([.string(name), .variant(value)])
  }

  private func entry(of id: String) -> DesktopEntry? {
    folders.lazy.map { DesktopEntry(at: "\($0)/\(id).desktop") }.first { $0["Type"] == "Application" }
  }
}
