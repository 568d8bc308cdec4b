import Testing

/// The rules of Sources/README.md and of the house, as a machine can see them.
struct HouseTests {
  let repository = Repository()

  /// The rows of the table in Sources/README.md: a module, and its allowed imports.
  func table() throws -> [String: Set<String>] {
    var rows: [String: Set<String>] = [:]
    for line in try repository.text(of: "Sources/README.md").split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|").map { $0.filter { $0 != " " && $0 != "`" } }
      guard cells.count == 2, cells[0] != "module" else { continue }
      rows[cells[0]] = Set(cells[1].split(separator: ",").map(String.init))
    }
    return rows
  }

  @Test func everyImportIsInTheTable() throws {
    let table = try table()
    var seen: Set<String> = []
    for file in try repository.files(below: "Sources", ending: ".swift") {
      let module = String(file.split(separator: "/")[1])
      seen.insert(module)
      let allowed = try #require(table[module], "add a row for \(module) to Sources/README.md")
      let platform: Set<String> = module == "RefreshEngine" ? [] : ["Glibc", "Synchronization"]
      for (number, line) in try repository.code(of: file) {
        let words = line.split(separator: " ").filter { !$0.hasPrefix("@") }
        guard words.first == "import", let name = words.last.map(String.init) else { continue }
        #expect(
          allowed.union(platform).contains(name),
          "\(file):\(number) imports \(name); Sources/README.md does not let \(module) do so")
      }
    }
    #expect(seen == Set(table.keys), "the table and the folders below Sources name the same modules")
  }

  @Test(arguments: ["try!", "fatalError(", " as! ", "String(format:", "import Foundation\n", "TODO", "FIXME"])
  func sourcesAreFree(of banned: String) throws {
    for file in try repository.files(below: "Sources", ending: ".swift") {
      for (number, line) in try repository.code(of: file) {
        #expect(!"\(line)\n".contains(banned), "\(file):\(number) has \(banned); give the error to who can handle it")
      }
    }
  }

  @Test func theEngineReadsNoClockAndNoChance() throws {
    for file in try repository.files(below: "Sources/RefreshEngine", ending: ".swift") {
      for (number, line) in try repository.code(of: file) {
        for hidden in ["clock_gettime", "ContinuousClock", "SystemRandom", ".random(", "shuffled()", "getenv"] {
          #expect(!line.contains(hidden), "\(file):\(number) reads \(hidden); make it a parameter")
        }
      }
    }
  }

  @Test func testsDoNotSleep() throws {
    for file in try repository.files(below: "Tests", ending: ".swift") where !file.contains("RepositoryTests") {
      for (number, line) in try repository.code(of: file) {
        for pause in ["Task.sleep", "usleep(", " sleep(", "nanosleep("] {
          #expect(!line.contains(pause), "\(file):\(number) sleeps; wait for the event instead")
        }
      }
    }
  }

  /// On a busy machine, a program's line can come after the event that a test has waited for.
  ///
  /// `written` only shows that something is not there.
  @Test func testsWaitForOutput() throws {
    let bare = #/\.output\b|(?:assert|and) any\(.*written\(\)|(?:assert|and) \S+ in .*written\(\)/#
    for file in try repository.files(below: "Tests", ending: ".py") {
      for (number, line) in try repository.code(of: file) {
        #expect(!line.contains(bare), "\(file):\(number) reads output once; use wait_for_output")
      }
    }
  }

  @Test func noPathOfOneMachine() throws {
    for folder in ["Sources", "Tests", "systemd", "config"] {
      for file in try repository.files(below: folder, ending: "") where !file.hasSuffix("HouseTests.swift") {
        guard let text = try? repository.text(of: file) else { continue }
        // `/proc/PID/root/` is on every machine.
        let path = text.firstMatch(of: #/(?:^|[^\w)])(/root/|/home/runner/)/#)?.1
        #expect(path == nil, "\(file) names \(path ?? ""), which is not on other machines")
      }
    }
  }
}
