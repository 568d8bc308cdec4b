import Foundation
import RefreshConfig
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

@Suite struct FingerprintTests {
  /// A change to a mail directory, and whether the fingerprint must differ.
  struct Act: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let isChange: Bool
    let perform: @Sendable (URL) throws -> Void

    init(_ description: String, isChange: Bool, _ perform: @escaping @Sendable (URL) throws -> Void) {
      testDescription = description
      self.isChange = isChange
      self.perform = perform
    }
  }

  static let acts = [
    Act("nothing", isChange: false) { _ in },
    Act("a file comes", isChange: true) { try write("c", at: $0, "inbox/new/3") },
    Act("an empty directory comes", isChange: true) {
      try FileManager.default.createDirectory(at: $0.appending(path: "drafts"), withIntermediateDirectories: false)
    },
    Act("a file goes", isChange: true) { try FileManager.default.removeItem(at: $0.appending(path: "inbox/new/1")) },
    Act("all goes", isChange: true) { try FileManager.default.removeItem(at: $0) },
    Act("a file gets another name", isChange: true) {
      try FileManager.default.moveItem(at: $0.appending(path: "inbox/new/1"), to: $0.appending(path: "inbox/cur/1:S"))
    },
    Act("a file is longer", isChange: true) { try write("aa", at: $0, "inbox/new/1") },
    Act("a file of equal size and time takes its place", isChange: true) {
      let old = $0.appending(path: "inbox/new/1")
      let new = $0.appending(path: "new")
      try write("b", at: $0, "new")
      let date = try #require(FileManager.default.attributesOfItem(atPath: old.path)[.modificationDate] as? Date)
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: new.path)
      try #require(rename(new.path, old.path) == 0)
    },
    Act("a link below points elsewhere", isChange: true) {
      try FileManager.default.removeItem(at: $0.appending(path: "link"))
      try FileManager.default.createSymbolicLink(atPath: $0.path + "/link", withDestinationPath: "inbox/cur")
    },
    Act("a lock comes and goes", isChange: false) {
      try write("", at: $0, "inbox/lock")
      try FileManager.default.removeItem(at: $0.appending(path: "inbox/lock"))
    },
    Act("a file is read", isChange: false) { _ = try Data(contentsOf: $0.appending(path: "inbox/new/1")) },
    Act("something outside changes, to which a link points", isChange: false) {
      try write("more", at: $0, "../outside/file")
    },
  ]

  @Test(arguments: acts) func onlyAChangeChangesTheFingerprint(act: Act) throws {
    try withMail { mail in
      let before = look(mail.path)
      try act.perform(mail)
      #expect((look(mail.path) != before) == act.isChange)
    }
  }

  @Test func aFileIsSeenThroughALink() throws {
    try withMail { mail in
      let link = mail.path + "/direct"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "inbox/new/1")
      let before = look(link)
      #expect(before == look(link))
      try Self.write("longer", at: mail, "inbox/new/1")
      #expect(before != look(link))
    }
  }

  @Test func aPathThatAppearsIsAChange() throws {
    try withMail { mail in
      let path = mail.path + "/later"
      let before = look(path)
      #expect(before == look(path))
      try Self.write("", at: mail, "later")
      #expect(before != look(path))
    }
  }

  @Test func beyondTheBoundOnlyNamesCount() throws {
    try withMail { mail in
      let before = look(mail.path, .init(files: 0))
      try Self.write("longer", at: mail, "inbox/new/1")
      #expect(before == look(mail.path, .init(files: 0)))
      try Self.write("c", at: mail, "inbox/new/3")
      #expect(before != look(mail.path, .init(files: 0)))
    }
  }

  @Test func aTreeBeyondTheBoundsIsUnknown() throws {
    try withMail { mail in
      #expect(look(mail.path, .init(entries: 3)) == .unknown("it has more than 3 entries"))
      #expect(look(mail.path, .init(depth: 1)) == .unknown("it has more than 1 levels"))
      #expect(look(mail.path, .init(end: 0)) == .unknown("it has more entries than can be looked at in time"))
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root may see what an owner may not"))
  func aPathIsSeenAsItsOwnerSeesIt() throws {
    try withMail { mail in
      let stranger = Owner(uid: 12345, gid: 12345, name: "nobody-at-all", home: "/")
      try FileManager.default.createSymbolicLink(atPath: mail.path + "/secret", withDestinationPath: "inbox/new")
      let path = mail.path + "/secret/1"
      let before = look(path, as: stranger)
      #expect(before.fingerprint != nil)
      try #require(chmod(mail.path + "/inbox/new", 0o700) == 0)
      #expect(look(path, as: stranger) == .unknown("the modes of a directory on the way to it keep its owner out"))
      let below = look(mail.path, as: stranger)
      try Self.write("longer", at: mail, "inbox/new/1")
      #expect(below == look(mail.path, as: stranger), "nothing tells of a file that the owner cannot see")
      #expect(look(path, as: Owner(uid: geteuid(), gid: getegid(), name: "root", home: "/")).fingerprint != nil)
    }
  }

  @Test func aPipeIsLookedAtFromOutside() throws {
    try withMail { mail in
      try #require(mkfifo(mail.path + "/pipe", 0o600) == 0)
      #expect(look(mail.path + "/pipe").fingerprint?.entries == 1)
      #expect(look(mail.path).fingerprint != nil)
    }
  }

  private func look(_ path: String, _ bounds: TreeWalk.WalkBounds = .init(), as owner: Owner? = nil) -> PathLook {
    TreeWalk.look(
      at: path, as: owner ?? Owner(uid: geteuid(), gid: getegid(), name: "me", home: "/"), within: bounds)
  }

  private static func write(_ text: String, at directory: URL, _ name: String) throws {
    try Data(text.utf8).write(to: directory.appending(path: name))
  }

  private func withMail(_ body: (URL) throws -> Void) throws {
    let scratch = FileManager.default.temporaryDirectory.appending(path: "refreshd-\(UUID())")
    let mail = scratch.appending(path: "mail")
    for name in ["inbox/new", "inbox/cur", "../outside"] {
      try FileManager.default.createDirectory(at: mail.appending(path: name), withIntermediateDirectories: true)
    }
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: scratch) } }
    try Self.write("a", at: mail, "inbox/new/1")
    try Self.write("b", at: mail, "inbox/new/2")
    try Self.write("", at: mail, "../outside/file")
    try FileManager.default.createSymbolicLink(atPath: mail.path + "/link", withDestinationPath: "../outside")
    try body(mail)
  }
}

extension LauncherTests {
  @Suite struct ChangedPathTests {
    @Test(arguments: [("echo new > $PLACE/file", true), (":", false), ("exit 1", false)])
    func aTaskThatChangesThePathIsSeen(script: String, changed: Bool) throws {
      let place = FileManager.default.temporaryDirectory.appending(path: "refreshd-\(UUID())")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: place) } }
      let task = try launch(
        ["/bin/sh", "-c", script], environment: ["PLACE=\(place.path)"], changedPath: place.path)
      #expect(try Stage.play(task).end.changed == changed)
    }

    @Test func aTaskStoppedBeforeItsStartEnds() throws {
      let stage = try Stage()
      let task = try shell("echo started", changedPath: "/")
      let timer = try stage.loop.timer { stage.processes.terminate(task.key) }
      timer.arm(at: 0, accuracy: 1)
      try stage.play([task])
      withExtendedLifetime(timer) {}
      guard case .notStarted(let sentence) = stage.ends[task.key]?.exit else { throw Missing() }
      #expect(sentence.hasPrefix("cannot start /bin/sh: it was stopped"))
      #expect(stage.lines.isEmpty)
    }
  }

  struct Missing: Error {}
}
