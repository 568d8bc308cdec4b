import RefreshAPI

/// The settings of a task of the built-in kind `activate`.
public struct ActivatedApp: Hashable, Sendable {
  /// The name of the app on its owner's session bus, such as `org.example.Notes`.
  public let name: String

  private init(name: String) { self.name = name }

  /// Reads the key, and refuses contradicting keys; nil if the name is refused.
  static func read(from section: inout Section) -> ActivatedApp? {
    for key in ExecContext.keysOfProcesses where section.isWritten(key) {
      section.refuse(
        key, "cannot set \(key) for an app that the session bus starts",
        remedy: "write it into the app's own service file in dbus-1/services")
    }
    return section.read(
      "activate", .text("org.example.Notes") { (text) throws(Unreadable) in try ActivatedApp(checking: text) })
  }

  private init(checking text: String) throws(Unreadable) {
    guard text.isBusName else {
      throw Unreadable(
        "cannot take \(quoted(text)) as the name of an app on the session bus",
        remedy: #"write the name of its desktop file, without ".desktop", as in "org.example.Notes""#)
    }
    self.init(name: text)
  }
}

extension [TaskSection] {
  /// Refuses to activate apps for root in the system's daemon.
  func refuseActivation(for owner: Owner, in section: inout Section) {
    guard owner.uid == 0, contains(where: { $0.kind?.key == "activate" }) else { return }
    section.refuse(
      section.isWritten("owner") ? "owner" : nil, "cannot activate an app for root, who has no session bus",
      remedy: #"name the user of the app, as in owner = "anna""#)
  }

  /// Refuses other tasks beside a task that activates: an app that attaches performs the whole refresh.
  func refuseTasksBesideActivation(in sections: inout [Section]) {
    guard count > 1, let index = firstIndex(where: { $0.kind?.key == "activate" }) else { return }
    sections[index].refuse(
      "activate", "cannot have other tasks beside activate: an app that attaches performs the whole refresh",
      remedy: "give the other tasks an app file of their own")
  }
}
