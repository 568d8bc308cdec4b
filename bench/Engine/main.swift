import Glibc

// engine-bench [APPS ...]: what the engine alone takes on virtual time, by default with 100, 10,000 and 100,000 apps,
// and how often it wakes a machine with 100 apps. Exit 0: all goals are met; 1: one is not; 64: not understood.

let sizes = CommandLine.arguments.count > 1 ? CommandLine.arguments.dropFirst().map { Int($0) ?? 0 } : [100, 10_000, 100_000]
guard sizes.allSatisfy((10...1_000_000).contains) else {
  print("usage: engine-bench [APPS ...], each 10 to 1000000")
  exit(64)
}
for size in sizes {
  let scale = Scale(apps: size)
  print("\(size) apps: \(scale.bytes) bytes an app")
  print("  life: \(Int(Double(scale.life.count) / scale.life.total * 1e6)) events/s of \(scale.life.count)")
  for (name, watch) in scale.kinds + [("flip for all", scale.flip), ("slice of the night", scale.night)] {
    print("  \(name): n \(watch.count) p50 \(watch.quantile(0.5)) p99 \(watch.quantile(0.99)) max \(watch.quantile(1)) us; total \(watch.total / 1e3) ms")
  }
}
let wakes = Wakes(apps: 100)
print("wakes \(wakes.engine) optimum \(wakes.optimum) timers \(wakes.timers)")
