import Glibc

// engine-bench [APPS ...]: what the engine alone takes, on virtual time, by default with 100, 10,000 and 100,000 apps, and
// how often it wakes a machine with 100 apps. The output is one table. Exit 64: not understood.

let arguments = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
let sizes = arguments.isEmpty ? [100, 10_000, 100_000] : arguments
guard sizes.allSatisfy((10...1_000_000).contains) else {
  print("usage: engine-bench [APPS ...], each 10 to 1000000")
  exit(64)
}
let scales = sizes.map { Scale(apps: $0) }
print(Table(of: scales))
print("")
print(Wakes(apps: 100))
