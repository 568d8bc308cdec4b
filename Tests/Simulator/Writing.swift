import RefreshEngine

/// The watched folders of apps, and their changes.
extension World {
  /// Makes some apps watch a folder.
  mutating func addFolders(to policy: inout Policy) {
    guard flux.happens(watching) else { return }
    policy.watch = ["~/Notes"]
    policy.watchSettle = flux.duration(
      flux.pick([.seconds(1) ... .seconds(5), .seconds(30) ... .seconds(30), .minutes(1) ... .hours(1)]))
  }

  /// Changes an app's folder for a while, as a person or as a program with thousands of files; often during the app's own
  /// refresh.
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
