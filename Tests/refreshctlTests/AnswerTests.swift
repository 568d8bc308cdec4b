import RefreshAPI
import Testing

@testable import refreshctl

/// Whole answers as text.
@Suite struct AnswerTests {
  @Test func theListHasALineForEachApp() {
    let failed = Wire.LastRefresh(outcome: .failed, cause: "exit code 3", endedMicroseconds: noon - span(h: 3))
    let fresh = Wire.LastRefresh(outcome: .newData, endedMicroseconds: noon - span(m: 2))
    let apps = [
      Wire.App(
        id: "org.example.mail", name: "Mail", owner: "anna", phase: .foreground, verdict: .notDue,
        dueMicroseconds: noon + span(m: 3), holds: [], last: fresh, freshMicroseconds: noon - span(m: 2)),
      Wire.App(
        id: "org.example.todo", name: "Todo", owner: "anna", phase: .loggedOut, verdict: .held,
        holds: [Wire.Hold(name: "logged-out", remedy: "log in")], last: failed, freshMicroseconds: noon - span(h: 27)),
      Wire.App(
        id: "org.x.new", name: "New", owner: "anna", phase: .background, verdict: .refreshing, holds: [],
        running: "12-346"),
    ]
    #expect(
      screen().text(apps)
        == [
          "APP               PHASE       NEXT        HELD BY     LAST                         DATA AGE",
          "org.example.mail  foreground  in 3 min                new data 2 min ago           2 min",
          "org.example.todo  logged-out  -           logged-out  failed 3 h ago: exit code 3  1 d 3 h",
          "org.x.new         background  refreshing              never                        -",
        ])
  }

  @Test func theListSaysWhenAnAppStartsAndWhatHoldsItThen() {
    func app(_ id: String, _ next: Wire.Next?, _ verdict: Wire.Verdict = .notDue, push: String? = nil) -> Wire.App {
      Wire.App(
        id: id, name: id, owner: "anna", phase: .background, verdict: verdict,
        dueMicroseconds: verdict == .notDue ? noon + span(m: 53) : nil,
        holds: verdict == .held ? next?.holds ?? [] : [], next: next, pushWait: push)
    }
    let soon = Wire.Window(earliestMicroseconds: noon + span(m: 53), latestMicroseconds: noon + span(m: 56))
    let free = Wire.Next(trigger: .interval, due: soon, holds: [], start: soon)
    let apps = [
      app("a.free", free), app("a.paused", nextHeld([("paused", nil)])),
      app("a.quiet", nextHeld([("quiet", noon + span(h: 9))], start: noon + span(h: 9))),
      app("a.held", nextHeld([("network", nil), ("power", nil)]), .held), app("a.push", free, push: "terminated"),
    ]
    #expect(
      screen().text(apps) == [
        "APP       PHASE       NEXT           HELD BY           LAST   DATA AGE",
        "a.free    background  in 53 min                        never  -",
        "a.paused  background  due in 53 min  then paused       never  -",
        "a.quiet   background  in 9 h         until then quiet  never  -",
        "a.held    background  -              network, power    never  -",
        "a.push    background  in 53 min      push: app quit    never  -",
      ])
  }

  @Test func `The list tells a refresh that was stopped from one that failed`() {
    func app(_ id: String, _ cause: String, _ reason: Wire.StopReason?) -> Wire.App {
      let last = Wire.LastRefresh(
        outcome: .failed, cause: cause, stopReason: reason, endedMicroseconds: noon - span(h: 3))
      return Wire.App(
        id: id, name: id, owner: "anna", phase: .background, verdict: .notDue, dueMicroseconds: noon + span(h: 4),
        holds: [], last: last)
    }
    let apps = [
      app("a.lost", "stopped: needed mains power, had on battery", .constraintLost),
      app("a.late", "still running at its deadline", .deadline), app("a.told", "stopped: so it says", nil),
    ]
    #expect(
      screen().text(apps) == [
        "APP     PHASE       NEXT    LAST                                                 DATA AGE",
        "a.lost  background  in 4 h  stopped 3 h ago: needed mains power, had on battery  -",
        "a.late  background  in 4 h  failed 3 h ago: still running at its deadline        -",
        "a.told  background  in 4 h  failed 3 h ago: stopped: so it says                  -",
      ])
  }

  @Test func `A narrow list leaves out columns before it cuts ids and last results`() {
    let last = Wire.LastRefresh(outcome: .newData, endedMicroseconds: noon - span(m: 2))
    func app(_ name: String, _ phase: Wire.Phase, held holds: [String] = []) -> Wire.App {
      Wire.App(
        id: "org.example.\(name)", name: name, owner: "anna", phase: phase, verdict: holds.isEmpty ? .notDue : .held,
        dueMicroseconds: holds.isEmpty ? noon + span(h: 4) : nil,
        holds: holds.map { Wire.Hold(name: $0, remedy: "") }, last: last, freshMicroseconds: noon - span(m: 2))
    }
    let apps = [app("mail", .background), app("photos", .background, held: ["power", "disabled"])]
    #expect(
      screen(width: 80).text(apps) == [
        "APP                 NEXT    HELD BY          LAST                DATA AGE",
        "org.example.mail    in 4 h                   new data 2 min ago  2 min",
        "org.example.photos  -       power, disabled  new data 2 min ago  2 min",
      ])
    #expect(
      screen(width: 80).text([app("notes", .foreground)] + apps) == [
        "APP                 PHASE       NEXT    HELD BY          LAST",
        "org.example.notes   foreground  in 4 h                   new data 2 min ago",
        "org.example.mail    background  in 4 h                   new data 2 min ago",
        "org.example.photos  background  -       power, disabled  new data 2 min ago",
      ])
  }

  @Test func `A narrow list names the first of many holds before it cuts ids and last results`() {
    let failed = Wire.LastRefresh(outcome: .failed, cause: "exit code 3", endedMicroseconds: noon - span(h: 3))
    func app(_ id: String, _ holds: [String], push: String? = nil) -> Wire.App {
      Wire.App(
        id: id, name: id, owner: "anna", phase: .foreground, verdict: .held,
        holds: holds.map { Wire.Hold(name: $0, remedy: "") }, last: failed, pushWait: push)
    }
    let apps = [
      app("org.example.photos", ["paused", "quiet", "network", "mounted"]),
      app("org.example.mail", ["paused", "quiet"]),
      app("org.example.todo", ["paused"], push: "terminated"),
    ]
    #expect(
      screen(width: 80).text(apps) == [
        "APP                 PHASE       NEXT  HELD BY        LAST               DATA AGE",
        "org.example.photos  foreground  -     paused, +3     failed 3 h ago: …  -",
        "org.example.mail    foreground  -     paused, quiet  failed 3 h ago: …  -",
        "org.example.todo    foreground  -     paused; push   failed 3 h ago: …  -",
      ])
    #expect(screen().text(apps)[1].contains("paused, quiet, network, mounted"))
  }

  @Test func `One long id cuts no other, because columns that say little are left out first`() {
    let last = Wire.LastRefresh(outcome: .newData, endedMicroseconds: noon - span(m: 2))
    let apps = ["org.example.mail", "org.example.a-name-that-goes-on-and-on-to-the-very-end.photos"].map { id in
      Wire.App(
        id: id, name: id, owner: "anna", phase: .background, verdict: .notDue,
        dueMicroseconds: noon + span(h: 4), holds: [], last: last, freshMicroseconds: noon - span(m: 2))
    }
    #expect(
      screen(width: 80).text(apps) == [
        "APP                                                   NEXT    LAST",
        "org.example.mail                                      in 4 h  new data 2 min ago",
        "org…-name-that-goes-on-and-on-to-the-very-end.photos  in 4 h  new data 2 min ago",
      ])
  }

  @Test func whoHasNoAppsIsToldOfOthers() {
    #expect(
      screen().text(ManagerInterface.List.Reply(apps: [], hasAppsOfOthers: true)).joined(separator: " ")
        == "You have no apps. There are apps of other users. Ask their owners, root or a member of the group refreshd "
        + "about them.")
  }

  @Test func aTaskThatWasKilledBesideOneWithNewDataIsNamed() {
    let cause = Wire.Cause(kind: .stopped, stopReason: .deadline, text: "still running at its deadline")
    let ended = refresh(
      at: noon, .failed, cause: cause, tasks: [task("pull", .newData), task("push", .failed, cause: cause)])
    #expect(
      screen().ending(ended) == "org.example.todo: failed: push (still running at its deadline); pull: new data")
    #expect(
      screen().text(.init(refreshes: [ended]), of: "org.example.todo").last?
        .hasSuffix("push (still running at its deadline); pull: new data") == true)
    #expect(ExitStatus(ended) == .failed)
  }

  @Test func anAppIsShownWithWhatTheSentenceRestsOn() {
    let last = refresh(
      at: noon - span(h: 5, m: 58), .newData,
      tasks: [
        task("pull", .newData, says: "3 new items"),
        task("push", .failed, cause: Wire.Cause(kind: .exit, code: 3, text: "exit code 3")),
      ])
    let app = details(
      due: noon + span(m: 132), trigger: .interval, fresh: last.startedMicroseconds,
      background: interval("1h", span(h: 1), insteadOf: "24h"), last: last)
    #expect(
      screen().text(app) == [
        "Todo (org.example.todo) is in the background. It will be refreshed in 2 h 12 min (today 14:12).",
        "",
        "  next           in 2 h 12 min, today 14:12 (interval)",
        "  last refresh   today 06:02, new data, took 1.8 s, 300 ms CPU (interval)",
        "                 pull: new data after 1.2 s, “3 new items”",
        "                 push: failed after 1.2 s: exit code 3",
        "  data age       5 h 58 min",
        "  foreground     5min",
        "  background     1h, set by `refreshctl set`; the file says 24h",
        "  deadline       30 s, then a grace of 5 s",
        "  tasks          pull: /usr/bin/mbsync inbox",
        "                 push: /usr/bin/todo-sync --to 'my list'",
        "  owner          anna",
        "  file           /etc/refreshd/apps.d/org.example.todo.toml",
      ])
  }

  @Test func aTaskThatFetchesIsShownWithWhatItFetches() {
    let fetch = Wire.Fetch(url: "https://example.org/feed?…", to: "/srv/my feed.xml")
    let app = details(tasks: [
      Wire.Task(name: "http", command: ["/usr/libexec/refresh-worker", "http"], after: [], fetch: fetch),
      Wire.Task(name: "transfer", command: ["/usr/libexec/refresh-worker", "enqueue"], after: [], transfer: fetch),
    ])
    #expect(
      screen().text(app).filter { $0.contains("my feed.xml") } == [
        "  tasks        http: fetch https://example.org/feed?… to '/srv/my feed.xml'",
        "               transfer: download https://example.org/feed?… to '/srv/my feed.xml' in the background",
      ])
  }

  @Test func anAppThatRefreshesItselfIsShownWithItsProcess() {
    let app = details(tasks: [], attachedPID: 4711)
    #expect(
      screen().text(app).filter { $0.hasPrefix("  tasks") || $0.hasPrefix("  attached") } == [
        "  tasks        none: the app refreshes itself while a process is attached",
        "  attached     process 4711, which performs the refreshes",
      ])
  }

  @Test func aFailureThatATaskReportedIsShownOnce() {
    let cause = Wire.Cause(kind: .reported, text: "disk full")
    let failed = refresh(
      at: noon, .failed, cause: cause, tasks: [task("app", .failed, cause: cause, says: "disk full")])
    #expect(
      screen().text(.init(refreshes: [failed]), of: "org.example.todo").last?.hasSuffix("300 ms  disk full") == true)
    #expect(screen().summary(failed).last == "app: failed after 1.2 s: disk full")
  }

  @Test func theHistoryHasALineForEachRefresh() {
    let cause = Wire.Cause(kind: .stopped, stopReason: .deadline, text: "stopped at its deadline")
    let refreshes = [
      refresh(at: noon - span(m: 1), .failed, cause: cause, tasks: [task("pull", .failed, cause: cause)]),
      refresh(at: noon - span(d: 1), tasks: [task("pull", .newData, says: "3 new items")], extraCompletions: 1),
    ]
    #expect(
      screen().text(.init(refreshes: refreshes), of: "org.example.todo") == [
        "STARTED             ID      TRIGGER   OUTCOME   TOOK   CPU     DETAIL",
        "today 11:59:00      12-345  interval  failed    1.8 s  300 ms  stopped at its deadline",
        "yesterday 12:00:00  12-345  interval  new data  1.8 s  300 ms  3 new items; 1 completion too many",
      ])
  }

  @Test func mistakesAreCounted() {
    let problem = Wire.Problem(
      file: "/etc/x.toml", line: 7, key: "deadline", message: "cannot read \"x\" as a duration", remedy: "write \"30s\""
    )
    #expect(
      screen().text([problem, problem]) == [
        #"/etc/x.toml:7: deadline: cannot read "x" as a duration; write "30s""#,
        #"/etc/x.toml:7: deadline: cannot read "x" as a duration; write "30s""#,
        "2 mistakes in 1 file.",
      ])
    #expect(screen().text([Wire.Problem]()) == ["No mistakes."])
    let warning = Wire.Problem(
      file: "/etc/x.toml", line: 7, message: "cannot keep x", remedy: "write y", isWarning: true)
    #expect(screen().text([warning]).last == "No mistakes.")
    #expect(screen().text([warning]).first?.hasPrefix("warning: /etc/x.toml:7: ") == true)
  }

  @Test func minimumSaysWhatItComesTo() {
    #expect(screen().interval(interval("minimum", span(m: 15))) == "minimum (15 min)")
    #expect(screen().interval(interval("never", nil)) == "never")
  }
}
