import Foundation
import RefreshConfig
import RefreshEngine
import Synchronization
import Systemd
import Testing

@testable import RefreshDaemon

/// The looks of several users on the real loop and threads; some hang as on a dead mount.
@Suite struct FingerprintReaderTests {
  private static let (anna, bob) = (user(1, "anna"), user(2, "bob"))

  private static func user(_ uid: UInt32, _ name: String) -> Owner { Owner(uid: uid, gid: uid, name: name, home: "/") }

  /// A dead mount: a look below it waits until it is mended.
  private final class DeadMount: Sendable {
    private let (reading, writing): (Int32, Int32)
    let looks = Mutex(0)

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      (reading, writing) = (ends[0], ends[1])
    }

    deinit { close(reading) }

    func mend() { close(writing) }

    func look(_ path: String) -> PathLook {
      guard path.hasPrefix("/dead") else { return .seen(Fingerprint()) }
      looks.withLock { $0 += 1 }
      var byte: UInt8 = 0
      _ = read(reading, &byte, 1)
      return .seen(Fingerprint())
    }
  }

  /// Turns a loop until all answers are there, or a generous bound has passed.
  private func ask(
    _ questions: [(path: String, owner: Owner, bound: Duration)], _ mount: DeadMount,
    then: (FingerprintReader, EventLoop) throws -> Void = { _, _ in }
  ) throws -> [String: PathLook] {
    let loop = try EventLoop()
    let reader = try FingerprintReader(on: loop) { path, _, _ in mount.look(path) }
    defer { mount.mend() }
    var answers: [String: PathLook] = [:]
    let bound = try loop.timer { loop.exit(0) }
    bound.arm(at: EventLoop.bootMicroseconds() + 30_000_000, accuracy: 1)
    for question in questions {
      reader.look(at: question.path, as: question.owner, within: question.bound) { look in
        answers[question.path] = look
        if answers.count == questions.count { loop.exit(0) }
      }
    }
    _ = try loop.run()
    try then(reader, loop)
    return answers
  }

  @Test func aPathThatHangsIsUnknownWithinItsBoundAndCostsNobodyElse() throws {
    let mount = try DeadMount()
    let answers = try ask(
      [
        ("/dead/mail", Self.anna, .milliseconds(300)), ("/home/anna", Self.anna, .seconds(10)),
        ("/home/bob", Self.bob, .seconds(10)),
      ], mount
    ) { reader, _ in #expect(reader.overdue == ["/dead/mail of anna does not answer"]) }
    #expect(answers["/dead/mail"] == .unknown("it did not answer in time"))
    #expect(answers["/home/anna"] == .seen(Fingerprint()), "the user's next look has a thread again")
    #expect(answers["/home/bob"] == .seen(Fingerprint()))
  }

  @Test func aUserWhoseThreadsHangGetsNoMore() throws {
    let mount = try DeadMount()
    let dead = (0..<6).map { ("/dead/\($0)", Self.anna, Duration.milliseconds(100 * ($0 + 1))) }
    let answers = try ask(dead + [("/home/bob", Self.bob, .seconds(10))], mount)
    #expect(answers.count == 7)
    #expect(mount.looks.withLock { $0 } == 2, "two threads hang, and no third is started")
    #expect(answers["/home/bob"] == .seen(Fingerprint()))
  }
}
