import RefreshEngine

extension Timeline {
  /// Takes one line of a script, its time left out.
  mutating func take(_ words: [String]) throws {
    guard let command = words.first else { throw ScriptError(text: "a line has only a time") }
    let rest = Array(words.dropFirst())
    switch command {
    case "configure": try configure(rest)
    case "limits": try setLimits(rest)
    case "lease", "lease-ends", "shown", "owner", "set", "reset", "run", "run-anyway", "says", "ends":
      try tell(command, rest)
    case "unpause": handle(.paused(nil))
    case "pause": handle(.paused(try rest.first.map { .until(instant + (try duration($0))) } ?? .untilResumed))
    case "disable", "enable": handle(.disabled(try appID(try rest.word(0)), command == "disable"))
    case "await", "unawait": handle(.awaited(try appID(try rest.word(0)), command == "await"))
    case "synced": handle(.synced(try appID(try rest.word(0)), foundNew: rest.last == "new-data"))
    case "change": handle(.changed(try appID(try rest.word(0)), in: "~/Notes"))
    case "skip-all":
      let span = rest.count > 1 ? try duration(rest[1]) : nil
      handle(.skippedAll(try appID(try rest.word(0)), until: span.map { instant + $0 }))
    case "skip": handle(.skipped(try appID(try rest.word(0))))
    case "schedule":
      let earliest = instant + (try duration(try rest.word(1)))
      handle(.scheduled(try appID(try rest.word(0)), OneShot(earliest: earliest, reason: "")))
    case "enqueue", "pause-transfer", "resume-transfer", "cancel-transfer", "prioritize", "report", "fetched", "moved",
      "room",
      "transfer":
      try tellOfTransfers(command, rest)
    case "push", "pushes": try tellOfPushes(command, rest)
    case "fresh-for": handle(.freshFor(try rest.word(0).read { RefreshID($0) }, try duration(try rest.word(1))))
    case "retry-after":
      handle(.retryAfter(try rest.word(0).read { RefreshID($0) }, try duration(try rest.word(1))))
    case "network", "power", "idle", "calm": handle(.observed(try observation(command, try rest.word(0))))
    case "mounted", "present":
      // mounted PATH yes
      let fact = NamedFact(try command.read(Constraint.init(rawValue:)), try rest.word(0))
      let isMet = try rest.word(1) == "yes"
      handle(
        .observed(.fact(fact, Reading(FactState(isMet: isMet, text: isMet ? "there" : "not there"), source: "script"))))
    case "answers":
      // answers QUESTION APP CONSTRAINT yes
      let isMet = try rest.word(3) == "yes"
      handle(
        .answered(
          try run(of: rest, for: .question(try rest.word(2).read(Constraint.init(rawValue:)))),
          FactState(isMet: isMet, text: isMet ? "fine" : "exit code 1")))
    case "keeps", "keeps-none":
      // keeps KEEPER APP
      handle(
        .keeperReported(try run(of: rest, for: .keeper), isKept: command == "keeps", text: "as told"))
    case "returns", "keeper-fails":
      // returns KEEPER APP
      handle(
        .keeperEnded(
          try run(of: rest, for: .keeper), command == "returns" ? .returned(trouble: nil) : .failed("no bus")))
    case "withdraws":
      // withdraws QUESTION APP CONSTRAINT
      handle(.withdrawn(try run(of: rest, for: .question(try rest.word(2).read(Constraint.init(rawValue:))))))
    case "zone": handle(.zoneChanged(try zone(rest)))
    case "clock":
      setClock(by: try duration(try rest.word(0)))
      handle(.clockStepped(wallOffset: wallOffset))
    case "suspend":
      suspend(for: try duration(try rest.word(0)))
      if rest.last == "resumed" { handle(.resumed) }
    case "expire": handle(.expired(try rest.word(0).read { RefreshID($0) }))
    case "attach": handle(.attached(try appID(try rest.word(0))))
    case "detach": handle(.detached(try appID(try rest.word(0))))
    case "sleeps-in": handle(.suspending(until: instant + (try duration(try rest.word(0)))))
    case "resumed": handle(.resumed)
    case "stop": handle(.stopped(leaving: Set(try rest.map { try $0.read { RefreshID($0) } })))
    case "down":
      engine = nil
      if rest.first != "leaving-tasks" { processes = [] }
    case "up":
      // The survivors, and the tasks that ended meanwhile and whose end is kept: 1-1/0.
      let kept = try rest.map { word in
        let parts = word.split(separator: "/").map(String.init)
        return (try parts.word(0).read { RefreshID($0) }, try parts.word(1).read { Int($0) })
      }
      let there = processes.map { ($0.refresh, $0.task) } + kept
      startDaemon(survivors: Dictionary(grouping: there) { $0.0 }.mapValues { Set($0.map(\.1)) })
    case "boot": boot()
    case "wake": handle(.wokeUp)
    case "why": write("why \(try rest.word(0)): \(try verdictText(of: rest.word(0)))")
    case "forecast": writeForecast(for: try duration(try rest.word(0)))
    case "ahead": write("ahead \(try rest.word(0)): \(try prospectText(of: rest.word(0)))")
    case "next": write("next \(engine?.nextWake.map { timeText($0.earliest) } ?? "none")")
    case "end": break
    default: handle(.signalled(try appID(try rest.word(0)), try command.read(Signal.init(rawValue:))))
    }
  }

  private mutating func tell(_ command: String, _ rest: [String]) throws {
    switch command {
    case "lease":
      let signal = try rest.word(1).read(Signal.init(rawValue:))
      handle(.leased(LeaseID(try rest.number(0)), try appID(try rest.word(2)), signal))
    case "lease-ends": handle(.leaseEnded(LeaseID(try rest.number(0)), try appID(try rest.word(1))))
    case "shown":
      handle(
        .shown(
          try appID(try rest.word(0)), try rest.word(1).read { word in Presence.allCases.first { "\($0)" == word } }))
    case "owner": handle(.ownerPresent(try appID(try rest.word(0)), try rest.word(1) == "there"))
    case "set", "reset": handle(.overridden(try appID(try rest.word(0)), try overrides(rest.dropFirst())))
    case "run":
      let trigger = rest.count > 1 ? try rest.word(1).read(Trigger.init(rawValue:)) : .manual
      handle(.requested(try appID(try rest.word(0)), trigger))
    case "run-anyway": handle(.forced(try appID(try rest.word(0))))
    case "says":
      let message = rest.dropFirst(3).joined(separator: " ")
      handle(
        .completed(
          try rest.word(0).read { RefreshID($0) }, task: Int(try rest.number(1)),
          try rest.word(2).read { outcome($0, message) }, message: message))
    default: try endTask(rest)
    }
  }

  /// The run of a command: `RUN APP`.
  private func run(of words: [String], for owner: RunOwner) throws -> Run {
    Run(try words.word(0).read { RunID($0) }, of: try appID(try words.word(1)), for: owner)
  }

  private mutating func endTask(_ rest: [String]) throws {
    let refresh = try rest.word(0).read { RefreshID($0) }
    let task = Int(try rest.number(1))
    let how = try rest.word(2).split(separator: "=").map(String.init)
    let exit: TaskEnd.Exit =
      switch how[0] {
      case "exit": .exited(try how.word(1).read { Int32($0) })
      case "lost": .lostClient
      case "memory": .outOfMemory
      case "late": .timedOut
      case "no-means": .noMeans("no process to spare")
      case "not-taken": .notTaken
      case "signal": .signalled(try how.word(1).read { Int32($0) })
      default: .notStarted("no such program")
      }
    processes.removeAll { $0.refresh == refresh && $0.task == task }
    let ran = try rest.first { $0.hasPrefix("ran=") }.map { try duration(String($0.dropFirst("ran=".count))) }
    let end = TaskEnd(
      exit: exit, printed: rest.contains("printed"), changed: rest.contains("changed"), duration: ran)
    handle(.taskEnded(refresh, task: task, end))
  }

  private mutating func configure(_ words: [String]) throws {
    var lines: [AppID: AppLine] = [:]
    for part in words.split(separator: ";") {
      lines[try appID(try Array(part).word(0))] = try AppLine(Array(part.dropFirst()))
    }
    apps = lines
    handle(.configured(limits, lines.mapValues(\.policy)))
  }

  private mutating func setLimits(_ words: [String]) throws {
    for word in words {
      let parts = word.split(separator: "=").map(String.init)
      let value = try parts.word(1)
      switch parts[0] {
      case "foreground": limits.foregroundFloor = try duration(value)
      case "background": limits.backgroundFloor = try duration(value)
      case "places": limits.maxConcurrent = try value.read { Int($0) }
      case "transfers": limits.transfers.maxConcurrent = try value.read { Int($0) }
      case "per-host": limits.transfers.maxPerHost = try value.read { Int($0) }
      case "sessions": limits.followsSessions = value == "logind"
      case "places-per-user": limits.maxConcurrentPerUser = try value.read { Int($0) }
      default: throw ScriptError(text: "\(word) is no limit")
      }
    }
  }

  private func observation(_ condition: String, _ word: String) throws -> Observation {
    switch condition {
    case "network":
      let network = Network(
        reach: word == "gone" ? .offline : .full, metered: word == "metered" ? .yes : .no,
        medium: word == "wifi" ? .wifi : .wired)
      return .network(Reading(network, source: "script"))
    case "power":
      let power = Power(onBattery: word != "mains", percent: word == "low" ? 10 : 80)
      return .power(Reading(power, source: "script"))
    case "idle": return .idle(Reading(word == "yes", source: "script"))
    default: return .pressure(Reading(word == "no", source: "script"))
    }
  }

  private func zone(_ words: [String]) throws -> Zone {
    func east(_ text: String) throws -> Int32 { Int32(try duration(text) / .seconds(1)) }
    return Zone(
      offset: try east(try words.word(0)),
      changes: try words.dropFirst().map { word in
        let parts = word.split(separator: "=").map(String.init)
        return Zone.Change(at: try duration(try parts.word(0)).inMicroseconds, offset: try east(try parts.word(1)))
      })
  }

  private func overrides(_ words: some Sequence<String>) throws -> Overrides {
    var overrides = Overrides()
    for word in words {
      let parts = word.split(separator: "=").map(String.init)
      let value = try parts.word(1)
      if parts[0] == "foreground" {
        overrides.foregroundInterval = try interval(value)
      } else {
        overrides.backgroundInterval = try backgroundInterval(value)
      }
    }
    return overrides
  }

  private func outcome(_ text: String, _ message: String) -> Outcome? {
    switch text {
    case "new-data": .newData
    case "no-data": .noData
    case "failed": .failed(.reported(message))
    default: nil
    }
  }
}

extension [String] {
  func word(_ index: Int) throws -> String {
    guard indices.contains(index) else { throw ScriptError(text: "\(self) has too few words") }
    return self[index]
  }

  func number(_ index: Int) throws -> UInt64 { try word(index).read { UInt64($0) } }
}
