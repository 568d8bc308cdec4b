import RefreshAPI
import RefreshEngine
import Varlink

/// The one who sees a view: a person or an app.
///
/// An app learns which of its constraints are met, but no network interface, no Wi-Fi network and no level: with these it
/// could find out where its user is.
enum Viewer: CaseIterable {
  /// A person, or a program that acts for one.
  case person
  /// A task or a sandboxed app.
  case app

  /// Makes it from the origin of a caller's process.
  init(_ peer: Peer) { self = peer.confinement == .none ? .person : .app }

  /// The result of a task without the condition that stopped it.
  func seen(_ task: TaskRecord) -> TaskRecord {
    guard self == .app, task.lostConstraint != nil else { return task }
    var task = task
    task.message = ""
    return task
  }

  /// The constraints without what the app's file names: networks, servers, folders, devices and commands.
  func seen(_ constraints: Constraints) -> Constraints {
    guard self == .app else { return constraints }
    var constraints = constraints
    (constraints.ssids, constraints.deniedSSIDs) = ([], [])
    for name in [\Constraints.mounted, \.present, \.reachable, \.when] where constraints[keyPath: name] != nil {
      constraints[keyPath: name] = "…"
    }
    return constraints
  }

  /// A condition of the machine, or whether it meets a constraint; nothing for an app without such a constraint.
  func seen(_ condition: Wire.Condition, isMet: Bool? = nil) -> Wire.Condition {
    guard self == .app else { return condition }
    return Wire.Condition(value: isMet.map { $0 ? "met" : "not met" }, source: "")
  }
}
