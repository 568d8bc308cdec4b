import RefreshEngine

/// What an app's file or `[defaults]` says of data that grows old, as far as it is written (FEATURES D8).
struct StalenessSettings {
  /// The age of which somebody wants to be told; the inner nil is `never`, which takes that of the defaults away.
  var after: Duration??
  /// The command that tells.
  var command: [String]?

  init() {}

  /// Takes the keys out of a section.
  init(from section: inout Section, _ programs: inout Programs) {
    after = section.takeText("stale_after", example: "6h") { (text) throws(Unreadable) -> Duration? in
      guard text != "never" else { return nil }
      let duration = try Duration(systemd: text)
      let bounds = Duration.minutes(1) ... .longest
      guard bounds.contains(duration) else {
        throw .outOfBounds(duration.inSystemdForm, bounds.lowerBound.inSystemdForm, bounds.upperBound.inSystemdForm)
      }
      return duration
    }
    command = section.takeArguments("on_stale", example: #"["/usr/bin/notify-send", "Old mail"]"#, &programs)
  }

  /// The same settings, with those of `defaults` where nothing is written.
  func completed(by defaults: StalenessSettings) -> StalenessSettings {
    var settings = self
    settings.after = after ?? defaults.after
    settings.command = command ?? defaults.command
    return settings
  }

  /// Refuses an objective that the interval in force misses each time, if the section writes one of the two.
  ///
  /// - Parameter spacing: the background interval in force; nil for `never`.
  func refuseEarlyObjective(in section: inout Section, spacing: Duration?) {
    if let after = after ?? nil, let spacing, after < spacing,
      let key = ["stale_after", "background_interval"].first(where: section.isWritten)
    {
      section.refuse(
        key,
        Unreadable(
          message: "cannot keep data fresher than \(after.inSystemdForm) with a refresh every \(spacing.inSystemdForm)",
          remedy: "write a longer stale_after or a shorter background_interval"))
    }
  }

  /// Refuses the command of an app that has no objective: it would never run.
  func refuseIdleCommand(in section: inout Section) {
    guard section.isWritten("on_stale"), after == nil, !section.isWritten("stale_after") else { return }
    section.refuse(
      "on_stale",
      Unreadable(
        message: "cannot tell when the data is stale", remedy: #"write for example stale_after = "6h" beside it"#))
  }
}
