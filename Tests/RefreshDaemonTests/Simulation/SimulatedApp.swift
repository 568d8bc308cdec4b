import Foundation
import RefreshEngine

import struct Simulator.Chance

/// An app of a simulation and its file.
struct SimulatedApp {
  let id: AppID
  let text: String
  let needsNetwork: Bool
  let extras: SimulatedExtras

  var fileName: String { "apps.d/\(id).toml" }

  /// Makes an app with a policy by chance.
  init?(_ number: Int, _ chance: inout Chance, _ extras: SimulatedExtras) {
    guard let id = AppID("org.example.app\(number)") else { return nil }
    (self.id, self.extras) = (id, extras)
    needsNetwork = chance.happens(40)
    var lines = [
      "id = \"\(id)\"",
      "foreground_interval = \"\(chance.pick(["10m", "30m", "1h"]))\"",
      "background_interval = \"\(chance.pick(["15m", "1h", "6h", "never"]))\"",
      "deadline = \"\(chance.pick(["20s", "2m"]))\"",
      "grace = \"\(chance.pick(["2s", "5s"]))\"",
      "network = \"\(needsNetwork ? "any" : "none")\"",
      "push_per_hour = \(chance.pick([3, 10]))",
      "push_burst = \(chance.pick([1, 5]))",
    ]
    if chance.happens(20) { lines.append("quiet = \"22:00-06:00\"") }
    if chance.happens(20) { lines.append("power = \"ac\"") }
    lines += extras.lines
    lines += ["[[task]]", "name = \"fetch\"", "run = [\"true\"]"]
    if chance.happens(50) { lines += ["[[task]]", "name = \"index\"", "run = [\"true\"]", "after = [\"fetch\"]"] }
    if chance.happens(30) { lines += ["[[task]]", "name = \"other\"", "run = [\"true\"]"] }
    text = lines.joined(separator: "\n") + "\n"
  }
}

/// A directory that is removed with its last reference.
final class SimulationDirectory {
  let path = NSTemporaryDirectory() + "refreshd-simulation-" + UUID().uuidString

  init() throws {
    try FileManager.default.createDirectory(atPath: "\(path)/apps.d", withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch { print("cannot remove \(path): \(error)") }
  }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
  }
}
