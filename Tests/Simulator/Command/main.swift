import Glibc
import Simulator

// `simulate [--seed N] [--seeds N] [--days D] [--trace]` plays seeds and prints the trace's hash and a summary, a line a
// seed. Exit 0: all promises held; 1: one was broken; 64: wrong usage.

/// The number after an option; `fallback` if the option is not there, nil if it is no number.
func number(after option: String, _ fallback: UInt64) -> UInt64? {
  guard let index = CommandLine.arguments.firstIndex(of: option) else { return fallback }
  return index + 1 < CommandLine.arguments.count ? UInt64(CommandLine.arguments[index + 1]) : nil
}

guard let first = number(after: "--seed", 1), let count = number(after: "--seeds", 1),
  let days = number(after: "--days", 10)
else {
  print("usage: simulate [--seed N] [--seeds N] [--days D] [--trace]")
  exit(64)
}
var isBroken = false
for seed in first..<first + count {
  var world = World(
    seed: seed, checks: Invariants.all(), keepsTrace: CommandLine.arguments.contains("--trace"))
  world.run(for: .hours(24) * Int(days))
  for line in world.trace.lines { print(line) }
  print(world.summary(seed: seed, days: days))
  for violation in world.violations { print("  broken: \(violation)") }
  if !world.violations.isEmpty { isBroken = true }
}
exit(isBroken ? 1 : 0)
