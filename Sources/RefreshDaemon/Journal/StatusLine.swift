import RefreshStore

/// The one line that `systemctl status` shows of the daemon (sd_notify(3), `STATUS=`).
///
/// It contains nothing that changes by the second, because every change wakes the service manager.
enum StatusLine {
  static func text(
    apps: Int, problems: [String], held: [String], storeProblem: StoreError?, stuck: [String], stopping: Int?
  ) -> String {
    if let stopping {
      return stopping == 0 ? "Stopping." : "Stopping: \(counted(stopping, "refresh", "refreshes")) to end first."
    }
    var sentences = ["Keeping \(counted(apps, "app", "apps")) fresh."]
    if let first = problems.first {
      sentences.append("The new configuration is not in force, the old one is: \(first)\(more(problems))")
    }
    if let first = held.first { sentences.append("Holding apps for mistakes in their files: \(first)\(more(held))") }
    if let storeProblem {
      let effect = storeProblem.code == .unanswered ? "Nothing new starts" : "Going on in memory"
      sentences.append("\(effect): \(storeProblem)")
    }
    if let first = stuck.first { sentences.append("No signal ends a process of \(first)\(more(stuck)).") }
    return sentences.joined(separator: " ")
  }

  private static func more(_ problems: [String]) -> String {
    problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
  }

  private static func counted(_ count: Int, _ one: String, _ many: String) -> String {
    "\(count) \(count == 1 ? one : many)"
  }
}
