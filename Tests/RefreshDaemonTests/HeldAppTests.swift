import Foundation
import RefreshConfig
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// A mistake in one app's file, in the whole daemon and in virtual time.
@Suite struct HeldAppTests {
  private let (todo, mail): (AppID, AppID)
  private let world: VirtualDaemon
  private let program: String

  /// A daemon with one good app, and one whose program is not there yet.
  init() throws {
    todo = try #require(AppID("org.example.todo"))
    mail = try #require(AppID("org.example.mail"))
    program = "/tmp/refreshd-program-\(UInt64.random(in: 0 ... .max))"
    world = try VirtualDaemon(apps: [
      "org.example.todo": Self.file("org.example.todo", "/bin/true"),
      "org.example.mail": Self.file("org.example.mail", program),
    ])
  }

  private static func file(_ id: String, _ program: String) -> String {
    "id = \"\(id)\"\nbackground_interval = \"1h\"\n[[task]]\nrun = [\"\(program)\"]\n"
  }

  private func isHeld(_ app: AppID) -> String? {
    let core = world.daemon.core
    guard case .held(let holds, _) = core.engine.verdict(on: app, at: core.now) else { return nil }
    for case .misconfigured(let reason) in holds { return reason }
    return nil
  }

  @Test func aMissingProgramHoldsItsAppAndNoOther() throws {
    world.scheduler.run(for: .minutes(10))
    #expect(world.launcher.started.count == 1, "the other app is refreshed")
    let reason = try #require(isHeld(mail))
    for text in ["org.example.mail.toml:4", "task.run", program, "install the program"] {
      #expect(reason.contains(text), "\(reason)")
    }
    #expect(isHeld(todo) == nil)
    #expect(world.daemon.core.configuration.held.count == 1)
  }

  @Test func aProgramThatAppearsLiftsTheHoldWithoutAReload() throws {
    world.scheduler.run(for: .hours(1))
    world.daemon.core.handle(.disabled(mail, true))
    try world.directory.write("apps.d/org.example.todo.toml", Self.file("org.example.todo", "/bin/false"))
    try world.directory.write("apps.d/org.example.mail.toml", Self.file("org.example.mail", "/bin/true"))
    world.scheduler.run(for: .minutes(6))
    #expect(isHeld(mail) == nil)
    #expect(world.daemon.core.configuration.held.isEmpty)
    #expect(world.daemon.core.engine.state(of: mail)?.isDisabled == true, "the user's switch is kept")
    let others = world.daemon.core.configuration[todo]?.commands.map(\.arguments)
    #expect(others == [["/bin/true"]], "another file is for a reload")
  }

  @Test func aFileThatIsGoneHoldsItsAppUntilItComesBack() throws {
    try FileManager.default.removeItem(atPath: "\(world.directory.path)/apps.d/org.example.mail.toml")
    world.scheduler.run(for: .hours(1))
    #expect(isHeld(mail) != nil)
    #expect(world.daemon.core.configuration.held.count == 1, "status names what is held")
    try world.directory.write("apps.d/org.example.mail.toml", Self.file("org.example.mail", "/bin/true"))
    world.scheduler.run(for: .minutes(6))
    #expect(isHeld(mail) == nil)
    #expect(world.daemon.core.configuration.held.isEmpty)
  }

  /// Two files that cannot be read and name no app, and two apps that had files before.
  @Test(arguments: [false, true]) func mendingOneUnnamedFileRetiresNoAppOfTheOther(byReload: Bool) throws {
    let directory = try ScratchDirectory()
    try directory.write("refreshd.toml", "")
    for name in ["one", "two"] { try directory.write("apps.d/\(name).toml", "id = \"org") }
    let settings = try DaemonSettings(arguments: ["refreshd", "--config", directory.path], environment: [])
    func read() throws -> Configuration { try .loadAtStart(from: settings.sources, as: settings.reader) }
    let moment = world.scheduler.now()
    var inForce = ConfigurationInForce(try read().keeping([mail, todo]), at: moment)
    let isUsable = { (app: AppID) in inForce[app].map { $0.policy.unusable == nil } }
    #expect(isUsable(mail) == false && isUsable(todo) == false)
    for (name, app) in [("one", todo), ("two", mail)] {
      try directory.write("apps.d/\(name).toml", Self.file(app.description, "/bin/true"))
      let newer = try read()
      inForce =
        byReload
        ? ConfigurationInForce(inForce.keepingHeld(in: newer), at: moment)
        : try #require(inForce.withHeldFiles(of: newer))
      #expect(isUsable(app) == true)
      #expect(isUsable(mail) == (app == mail), "held until the other file can be read")
    }
    #expect(inForce.apps.count == 2 && isUsable(todo) == true && inForce.held.isEmpty)
  }

  @Test func aReloadOfABadFileStaysAllOrNothing() throws {
    try world.directory.write("apps.d/org.example.todo.toml", Self.file("org.example.todo", "/bin/missing"))
    try world.directory.write("apps.d/org.example.mail.toml", Self.file("org.example.mail", "/bin/true"))
    var problems: [[Problem]] = []
    world.daemon.reload { problems.append($0) }
    #expect(problems.map { $0.map(\.file) } == [["\(world.directory.path)/apps.d/org.example.todo.toml"]])
    let others = world.daemon.core.configuration[todo]?.commands.map(\.arguments)
    #expect(others == [["/bin/true"]])
    #expect(isHeld(mail) != nil)
  }

  @Test func aReloadPutsOtherFilesInForceWhileAnAppStaysHeld() throws {
    try world.directory.write("apps.d/org.example.todo.toml", Self.file("org.example.todo", "/bin/false"))
    var problems: [[Problem]] = []
    world.daemon.reload { problems.append($0) }
    #expect(problems == [[]])
    #expect(world.daemon.core.configuration[todo]?.commands.map(\.arguments) == [["/bin/false"]])
    #expect(isHeld(mail) != nil && world.daemon.core.configuration.held.count == 1)
  }

  @Test func aReloadOfADiskThatDoesNotAnswerEnds() throws {
    world.files.isAnswering = false
    var problems: [[Problem]] = []
    world.daemon.reload { problems.append($0) }
    world.daemon.files.problems { problems.append($0) }
    world.scheduler.run(for: .seconds(29))
    #expect(problems.isEmpty)
    world.scheduler.run(for: .seconds(2))
    #expect(problems.count == 2 && problems.allSatisfy { "\($0)".contains("has not answered for 30 s") })
    #expect(world.files.givenUp >= 2)
    world.daemon.files.problems { problems.append($0) }
    #expect(problems.count == 3, "no more threads are given up")
  }
}
