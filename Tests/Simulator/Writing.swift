import RefreshEngine

/// Folders that apps' files have watched, and what changes in them.
extension World {
  /// Has the folder of some apps watched.
  mutating func addFolders(to policy: inout Policy) {
    guard flux.happens(watching) else { return }
    policy.watch = ["~/Notes"]
    policy.watchSettle = flux.duration(
      flux.pick([.seconds(1) ... .seconds(5), .seconds(30) ... .seconds(30), .minutes(1) ... .hours(1)]))
  }

  /// Somebody works in an app's folder for a while, or a program writes thousands of files there; often while the app's own
  /// refresh runs.
  mutating func happenToFolders() {
    expect(.writes, in: flux.duration(flux.pick([.zero ... .minutes(5), .zero ... .hours(3)])))
    let busy = flux.happens(30) && !processes.isEmpty ? flux.pick(processes).app : nil
    let id = busy ?? flux.pick(ids)
    let change = Event.changed(id, in: "~/Notes")
    handle(change)
    var later = Duration.zero
    for _ in 0..<flux.pick([0, 3, 30]) {
      later += flux.duration(flux.pick([.milliseconds(100) ... .seconds(1), .seconds(1) ... .minutes(2)]))
      expect(.again(change), in: later)
    }
  }
}
