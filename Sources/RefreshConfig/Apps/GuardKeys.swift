import RefreshEngine

/// The keys of a guard: `unit` and `guard`, at the top of the file, because a guard has no tasks.
enum GuardKeys {
  /// The keys.
  static let names = ["unit", "guard"]
  /// The keys of an app that have no meaning for a guard.
  static let ofRefreshes = AppKey.all.map(\.name).filter { !AppKey.namesOfGuards.contains($0) }

  /// Reads the keys, and refuses the keys of a refreshed app; nil if the file names no unit.
  static func read(from section: inout Section, in load: LoadContext) -> GuardedUnit? {
    let unit = section.read("unit", .text("syncthing.service", GuardedUnit.name(checking:)))
    let means = section.read("guard", .word(.freeze)) ?? GuardedUnit.Means.stop
    if !section.isWritten("unit") {
      section.refuse(
        "unit", "cannot guard without a unit", remedy: #"write for example unit = "syncthing.service""#)
    }
    for key in ofRefreshes + ["pin", "desktop", "task"] where section.isWritten(key) {
      section.refuse(
        key, "cannot set \(key) for a guard, which refreshes nothing",
        remedy: #"remove it, or write a second file with kind = "refresh""#)
    }
    if load.worker == nil {
      section.refuse(
        "kind",
        "cannot find refresh-worker, which guards units, at "
          + load.reader.workers.map(quoted).joined(separator: " or "), remedy: "install it there")
    }
    return unit.map { GuardedUnit($0, means: means) }
  }

  /// Refuses the keys of a guard in the file of another app.
  static func refuse(in section: inout Section, of kind: AppKind) {
    for key in names where section.isWritten(key) {
      let move = key == "unit" ? ", or move it below a [[task]]" : ", or remove the key"
      section.refuse(
        key, "cannot guard a unit with kind = \(quoted(kind.rawValue))", remedy: #"write kind = "guard""# + move)
    }
  }
}
