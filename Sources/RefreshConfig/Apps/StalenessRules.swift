import RefreshEngine

/// Refuses keys about stale data that contradict other keys.
extension ConfigurationSettings {
  /// Refuses a `max_stale` or `stale_after` below the background interval in force, if the section has one of the keys.
  ///
  /// Otherwise the data would be stale every time a refresh is due, and its constraints would be relaxed too early.
  func refuseEarlyStaleness(in section: inout Section, limits: Limits) {
    guard let spacing = policy.backgroundInterval.spacing(floor: limits.backgroundFloor) else { return }
    if let after = policy.staleAfter, after < spacing,
      let key = ["stale_after", "background_interval"].first(where: section.isWritten)
    {
      section.refuse(
        key, "cannot keep data fresher than \(after.inSystemdForm) with a refresh every \(spacing.inSystemdForm)",
        remedy: "write a longer stale_after or a shorter background_interval")
    }
    if let maxStale = policy.maxStale, maxStale < spacing,
      let key = ["max_stale", "background_interval"].first(where: section.isWritten)
    {
      section.refuse(
        key, "cannot take max_stale = \"\(maxStale.inSystemdForm)\" with a refresh every \(spacing.inSystemdForm)",
        remedy: "write a longer max_stale or a shorter background_interval")
    }
  }

  /// Refuses keys that would have no effect: an `on_stale` without a `stale_after`, an `on_held` without a `held_for`, a
  /// `watch_settle` without a `watch`, an `on_failure` without `failures_before_notice`, and settings of a sandbox without
  /// one.
  func refuseIdleKeys(in section: inout Section) {
    for (key, other, reason, example) in [
      ("on_stale", "stale_after", "cannot tell when the data is stale", "6h"),
      ("on_held", "held_for", "cannot tell when a refresh waits too long", "2h"),
    ] where section.isWritten(key) && !isSet(other) && !section.isWritten(other) {
      section.refuse(key, reason, remedy: #"write for example \#(other) = "\#(example)" beside it"#)
    }
    if section.isWritten("watch_settle"), !isSet("watch"), !section.isWritten("watch") {
      section.refuse(
        "watch_settle", "cannot wait for folders to settle that are not watched",
        remedy: #"write for example watch = ["~/Notes"] beside it"#)
    }
    if section.isWritten("on_failure"), policy.failuresBeforeNotice == nil {
      section.refuse(
        "on_failure", #"cannot tell of failures with failures_before_notice = "never""#,
        remedy: "write for example failures_before_notice = 2 beside it")
    }
    for key in ["writable", "offline"] where section.isWritten(key) && sandbox.level == .none {
      section.refuse(
        key, "cannot set \(key) without a sandbox", remedy: #"write sandbox = "strict" beside it, or remove the key"#)
    }
  }
}
