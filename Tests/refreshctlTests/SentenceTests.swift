import RefreshAPI
import Testing

@testable import refreshctl

@Suite struct SentenceTests {
  private static let apps: [(Wire.AppDetails, String)] = [
    (
      details(due: noon + span(m: 132), trigger: .interval, last: refresh(at: noon + span(m: 132) - span(h: 24))),
      "Todo (org.example.todo) is in the background. It will be refreshed in 2 h 12 min (today 14:12), "
        + "because its background interval is 24h."
    ),
    (
      details(phase: .foreground, due: noon + span(m: 3), trigger: .interval, last: refresh(at: noon - span(m: 2))),
      "Todo (org.example.todo) is in the foreground. It will be refreshed in 3 min (today 12:03:00), "
        + "because its foreground interval is 5min."
    ),
    (
      details(
        due: noon + span(m: 15), trigger: .interval, background: interval("minimum", span(m: 15)),
        last: refresh(at: noon)),
      "Todo (org.example.todo) is in the background. It will be refreshed in 15 min (today 12:15), "
        + "because its background interval is minimum (15 min)."
    ),
    // Planned, skipped, or put off by a server: the interval is not the reason.
    (
      details(due: noon + span(h: 30), trigger: .interval, last: refresh(at: noon)),
      "Todo (org.example.todo) is in the background. It will be refreshed in 1 d 6 h (tomorrow 18:00)."
    ),
    (
      details(
        due: noon + span(h: 24), trigger: .interval, last: refresh(at: noon),
        next: Wire.Next(
          trigger: .interval, due: window(noon + span(h: 26)), holds: [], start: window(noon + span(h: 26), span(m: 9)))
      ),
      "Todo (org.example.todo) is in the background. It will be refreshed between tomorrow 14:00 and tomorrow 14:09 "
        + "(in 1 d 2 h)."
    ),
    (
      details(due: noon + span(m: 3), trigger: .catchUp),
      "Todo (org.example.todo) is in the background. It will be refreshed in 3 min (today 12:03:00), "
        + "because one was missed while the machine or the daemon was off."
    ),
    (
      details(
        phase: .loggedOut, verdict: .held, holds: [Wire.Hold(name: "logged-out", remedy: "refreshctl login org.x")]),
      "Todo (org.example.todo) is logged out. It is not refreshed by itself, because it is held: logged-out (refreshctl login org.x)."
    ),
    (
      details(
        verdict: .refreshing,
        running: Wire.Running(id: "12-346", trigger: .manual, startedMicroseconds: noon - span(s: 3))),
      "Todo (org.example.todo) is in the background and is being refreshed: 12-346, manual, started 3 s ago."
    ),
    (
      details(verdict: .refreshing, running: stuck(pids: [4711, 4712])),
      "Todo (org.example.todo) is in the background. Its refresh 12-346, started 3 s ago, does not end: process 4711, "
        + "4712 is blocked in the kernel and cannot be killed. The app waits until it ends."
    ),
    (
      details(verdict: .refreshing, running: stuck(pids: [])),
      "Todo (org.example.todo) is in the background. Its refresh 12-346, started 3 s ago, does not end: one of its "
        + "processes is blocked in the kernel and cannot be killed. The app waits until it ends."
    ),
    (details(verdict: .ready), "Todo (org.example.todo) is in the background. It is refreshed now."),
  ]

  private static func window(_ earliest: Int64, _ length: Int64 = 0) -> Wire.Window {
    Wire.Window(earliestMicroseconds: earliest, latestMicroseconds: earliest + length)
  }

  private static func stuck(pids: [Int]) -> Wire.Running {
    Wire.Running(
      id: "12-346", trigger: .manual, startedMicroseconds: noon - span(s: 3), isStuck: true, stuckPids: pids)
  }

  @Test(arguments: apps) func theStateOfAnAppIsASentence(_ app: Wire.AppDetails, _ sentence: String) {
    #expect(screen().sentence(app) == sentence)
  }

  @Test func theStatusSaysThatAllIsWell() {
    #expect(
      screen().sentence(Self.status())
        == "refreshd 0.1.0, the system's daemon, started 2 h ago (today 10:00), start 12. All is well.")
  }

  private static let troubles: [(Wire.DaemonStatus, String)] = [
    (
      status(troubled: [Wire.TroubledApp(app: "a.b", trouble: .failing, failures: 4)]),
      "1 app needs attention: a.b failed 4 times in a row; `refreshctl why APP` says more."
    ),
    (
      status(troubled: [
        Wire.TroubledApp(app: "a.b", trouble: .resting, failures: 3, atMicroseconds: noon + span(h: 2)),
        Wire.TroubledApp(app: "a.c", trouble: .neverWorked, atMicroseconds: noon - span(h: 3)),
        Wire.TroubledApp(app: "a.d", trouble: .late, atMicroseconds: noon - span(h: 96)),
      ]),
      "3 apps need attention: a.b rests until today 14:00, because it ran out of time too often, a.c has never worked, and "
        + "was due 3 h ago, a.d is late: its last success was 4 d ago; `refreshctl why APP` says more."
    ),
    (
      status(held: [Wire.Problem(file: "/etc/refreshd/apps.d/a.toml", message: "cannot x", remedy: "y")]),
      "The apps of 1 file are held until you correct 1 mistake."
    ),
    (status(pause: Wire.PauseState(untilAC: false)), "All apps are paused until `refreshctl resume`."),
    (status(launcherProblem: "no bus"), "No task can be started (no bus); refreshes wait"),
    (status(store: "no space"), "The store cannot be written (no space);"),
    (status(isBridgeMissing: true), "The push bridge is not connected"),
    (
      status(
        push: Wire.PushState(
          sinceMicroseconds: noon, mayConnect: true,
          sources: [
            Wire.Source(
              name: "home", kind: .mqtt, isConnected: false, sinceMicroseconds: noon, problem: "refused", received: 0,
              refused: 0)
          ])), "1 push source is not connected: home."
    ),
    (
      status(desktops: [
        Wire.DesktopSession(
          uid: 1000, windows: .none, remedy: "log in again", isWatched: true, apps: 1, running: [], front: [])
      ]), "refresh-session of user 1000 cannot see windows (log in again)."
    ),
  ]

  @Test(arguments: troubles) func theStatusSaysThatAllIsWellOnlyIfItIs(_ status: Wire.DaemonStatus, _ sentence: String)
  {
    let shown = screen().sentence(status)
    #expect(shown.contains("start 12. " + sentence) && !shown.contains("All is well"), "\(shown)")
  }

  @Test func theStatusNamesProblems() {
    let problem = Wire.Problem(file: "/etc/refreshd/refreshd.toml", line: 7, message: "cannot x", remedy: "y")
    let sentence = screen().sentence(Self.status(problems: [problem], store: "no space left on device"))
    #expect(sentence.contains("The last reload was rejected for 1 mistake; the previous configuration stays in force."))
    #expect(
      sentence.contains(
        "The store cannot be written (no space left on device); the daemon keeps its state in memory only."))
    let silent = screen().sentence(Self.status(store: "the disk has not answered for 2 s", isSilent: true))
    #expect(silent.contains("(the disk has not answered for 2 s); nothing new starts until it answers."))
  }

  @Test func theStatusNamesWhatNoSignalEnds() {
    let stuck = [
      Wire.StuckRefresh(app: "a.b", refresh: "1-2", pids: [4711, 4712]),
      Wire.StuckRefresh(app: "a.c", refresh: "1-3", pids: []),
    ]
    #expect(
      screen().sentence(Self.status(stuck: stuck)).hasSuffix(
        "start 12. The refresh of a.b (process 4711, 4712), a.c is blocked in the kernel and cannot be killed."))
  }

  @Test func theStatusSaysWhatWaitsWhileNoTaskCanBeStarted() {
    #expect(
      screen().sentence(Self.status(launcherProblem: "no bus")).hasSuffix(
        "No task can be started (no bus); refreshes wait until their deadlines, and transfers until it answers.")
    )
  }

  @Test func theStatusSaysWhatStartsNextOrWhyNothingDoes() {
    func next(_ next: Wire.NextRefresh) -> String? {
      screen().text(Self.status(next: next)).first { $0.hasPrefix("  next") }
    }
    let due = noon + span(m: 53)
    #expect(
      next(Wire.NextRefresh(app: "a.b", dueMicroseconds: due, startMicroseconds: noon + span(h: 2)))
        == "  next            a.b, in 2 h, today 14:00")
    #expect(
      next(
        Wire.NextRefresh(
          app: "a.b", dueMicroseconds: due, startMicroseconds: noon + span(h: 2), holds: ["paused", "x"]))
        == "  next            a.b, in 2 h, today 14:00 (due in 53 min, then held: paused, x)")
    #expect(
      next(Wire.NextRefresh(app: "a.b", dueMicroseconds: noon, startMicroseconds: noon + span(h: 2), holds: ["quiet"]))
        == "  next            a.b, in 2 h, today 14:00 (held: quiet)")
    #expect(
      next(Wire.NextRefresh(app: "a.b", dueMicroseconds: due, holds: ["paused"]))
        == "  next            none: a.b is due in 53 min, today 12:53, then held: paused")
    #expect(
      next(Wire.NextRefresh(app: "a.b", dueMicroseconds: noon - span(h: 1), holds: ["network", "power"]))
        == "  next            none: a.b is due since today 11:00 and held: network, power")
  }

  @Test func theStatusSaysThatTheBridgeIsMissing() {
    #expect(
      screen().sentence(Self.status(isBridgeMissing: true)).hasSuffix(
        "The push bridge is not connected, though push.toml names sources; `systemctl status refresh-push` says more."))
  }

  @Test func theStatusSaysThatAGuardCannotDoItsWork() {
    func guards(trouble: String?) -> Wire.Guard {
      let guarded = Wire.Guarded(unit: "sync.service", means: "stop", isKept: false, trouble: trouble)
      return Wire.Guard(app: "org.example.sync", guarded: guarded, holds: [])
    }
    #expect(screen().sentence(Self.status(guards: [guards(trouble: nil)])).hasSuffix("All is well."))
    #expect(
      screen().sentence(Self.status(guards: [guards(trouble: "there is no user bus")])).hasSuffix(
        "A guard cannot do its work for sync.service: see `guards`."))
  }

  @Test func aMistakeThatHoldsAnAppAndRefusedAReloadIsListedOnce() {
    let problem = Wire.Problem(file: "/etc/refreshd/apps.d/x.toml", line: 7, message: "cannot x", remedy: "y")
    let lines = screen().text(Self.status(problems: [problem], held: [problem]))
    #expect(lines.filter { $0.contains("x.toml:7: cannot x; y") }.count == 1)
  }

  @Test func aSentenceIsBrokenBetweenWords() {
    #expect(screen(width: 12).wrapped("Todo is in the background.") == ["Todo is in", "the", "background."])
  }

  @Test func eachLineOfAMessageKeepsItsIndentWhenItIsBroken() {
    #expect(
      screen(width: 24).message("refreshctl: cannot read it\n  apps.d/mail.toml: no such key")
        == "refreshctl: cannot read\nit\n  apps.d/mail.toml: no\n  such key")
    #expect(screen(width: nil).message("a line  of\n  any length") == "a line  of\n  any length")
  }

  @Test func aLineOfWideCharactersIsBrokenWhereItIsFull() {
    #expect(screen(width: 12).wrapped("写真アルバムの写真 ok") == ["写真アルバム", "の写真 ok"])
  }

  @Test func aColourEndsWithItsLineAndGoesOnInTheNext() {
    let text = "a \u{1B}[31mred words\u{1B}[0m b"
    #expect(
      screen(width: 5).wrapped(text) == ["a \u{1B}[31mred\u{1B}[0m", "\u{1B}[31mwords\u{1B}[0m", "b"])
  }

  @Test func aFactThatIsTooLongGoesOnUnderItself() {
    var facts = Facts()
    facts.add("file", "a text of several words that is long")
    facts.add("owner", "anna")
    #expect(
      facts.lines(on: screen(width: 34)) == [
        "  file    a text of several words", "          that is long", "  owner   anna",
      ])
    #expect(
      facts.lines(on: screen(width: 30)) == [
        "  file", "    a text of several words", "    that is long", "  owner", "    anna",
      ])
  }

  @Test func aPathThatIsTooLongForTheRoomStandsBelowItsName() {
    var facts = Facts()
    facts.add("owner", "anna and her friends at home")
    facts.add("directory", "from /srv/configuration/of/apps/")
    #expect(
      facts.lines(on: screen(width: 40)) == [
        "  owner       anna and her friends at", "              home", "  directory",
        "    from /srv/configuration/of/apps/",
      ])
  }

  @Test func whereTheEncodingHasOnlyASCIILinesKeepTheirWidth() {
    #expect(Charset.ascii("↓ “a…” █▌░ 写", isTerminal: true) == #"v "a~" #=. ??"#)
    #expect(Charset.ascii("写 ●", isTerminal: false) == "写 *")
  }

  private static func status(
    problems: [Wire.Problem] = [], held: [Wire.Problem]? = nil, store problem: String? = nil, isSilent: Bool? = nil,
    next: Wire.NextRefresh? = nil, stuck: [Wire.StuckRefresh]? = nil, isBridgeMissing: Bool? = nil,
    launcherProblem: String? = nil, guards: [Wire.Guard]? = nil,
    push: Wire.PushState? = nil, desktops: [Wire.DesktopSession]? = nil, pause: Wire.PauseState? = nil,
    troubled: [Wire.TroubledApp]? = nil
  ) -> Wire.DaemonStatus {
    Wire.DaemonStatus(
      version: "0.1.0", start: 12, sinceMicroseconds: noon - span(h: 2), isUserDaemon: false,
      socket: "/run/refreshd/org.refreshd", launcher: "spawn",
      launcherReason: "refreshd.toml says so", apps: 1, refreshing: 0, next: next, pause: pause,
      configuration: Wire.ConfigurationState(
        directories: ["/etc/refreshd"], sinceMicroseconds: noon - span(h: 2), problems: problems,
        held: held),
      store: Wire.StoreState(directory: "/var/lib/refreshd", problem: problem, isSilent: isSilent), stuck: stuck,
      push: push, isBridgeMissing: isBridgeMissing, desktops: desktops, launcherProblem: launcherProblem,
      guards: guards,
      troubled: troubled)
  }
}
