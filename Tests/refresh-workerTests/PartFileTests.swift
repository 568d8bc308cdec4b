import Glibc
import RefreshAPI
import Testing

@testable import refresh_worker

/// A download continues its own part, replaces other parts, and refuses foreign files.
struct PartFileTests {
  let scratch: ScratchFolder
  let folder: Folder

  init() throws {
    scratch = try ScratchFolder()
    folder = try Folder(path: scratch.path)
  }

  @Test func whatIsThereIsContinued() throws {
    let mark = try begin("one ")
    let part = try PartFile(in: folder, for: "f", marked: mark)
    #expect(part.length == 4)
    try part.append("two")
    #expect(scratch.text(of: "f.part") == "one two")
    try part.truncate(to: 3)
    try part.append("!")
    #expect(scratch.text(of: "f.part") == "one!")
  }

  /// Writes a part, closes it and returns its mark.
  private func begin(_ text: String) throws -> Int64 {
    let part = try PartFile(in: folder, for: "f")
    try part.append(text)
    return part.mark
  }

  @Test func thePartOfAnotherIsReplacedAndNotContinued() throws {
    let first = try begin("one ")
    let second = try begin("two ")
    #expect(first != second)
    let part = try PartFile(in: folder, for: "f", marked: first)
    #expect(part.length == 0)
    #expect(![first, second].contains(part.mark))
    #expect(scratch.text(of: "f.part") == "")
  }

  @Test func anEmptyPartOfAnotherIsReplacedToo() throws {
    let first = try begin("")
    #expect(try begin("") != first)
  }

  @Test func aFileThatIsNoneOfOursIsLeftAlone() throws {
    try scratch.write("mine", to: "f.part")
    do throws(TaskFailure) {
      _ = try PartFile(in: folder, for: "f")
      Issue.record("somebody's file was taken for a part")
    } catch {
      #expect(error.kind == .failed)
      #expect(error.message.contains("move it away"))
    }
    try PartFile.discard(in: folder, for: "f", marked: nil)
    #expect(scratch.text(of: "f.part") == "mine")
  }

  @Test func onlyTheOwnPartIsDiscarded() throws {
    let mark = try begin("one ")
    try PartFile.discard(in: folder, for: "f", marked: mark &+ 1)
    #expect(scratch.text(of: "f.part") == "one ")
    try PartFile.discard(in: folder, for: "f", marked: mark)
    #expect(scratch.status(of: "f.part") == nil)
    _ = try begin("two ")
    try PartFile.discard(in: folder, for: "f", marked: nil)
    #expect(scratch.status(of: "f.part") == nil)
  }

  @Test func aPartThatWasRemovedTakesNoPlace() throws {
    let part = try PartFile(in: folder, for: "f")
    try part.append("one ")
    try scratch.write("mine", to: "other")
    rename("\(scratch.path)/other", "\(scratch.path)/f.part")
    do throws(TaskFailure) {
      try part.replaceTarget()
      Issue.record("another file took the place")
    } catch {
      #expect(error.kind == .retry(after: nil))
      #expect(error.message.contains("was removed"))
    }
    part.remove()
    #expect(scratch.text(of: "f.part") == "mine")
    #expect(scratch.status(of: "f") == nil)
  }

  @Test(arguments: [0o600, 0o444, 0o640] as [mode_t])
  func theModeOfWhatIsReplacedIsKept(mode: mode_t) throws {
    try scratch.write("old", to: "f", mode: mode)
    let mark = try begin("new")
    #expect(scratch.status(of: "f.part").map { $0.st_mode & 0o777 } == mode | 0o600)
    try PartFile(in: folder, for: "f", marked: mark).replaceTarget()
    #expect(scratch.status(of: "f").map { $0.st_mode & 0o777 } == mode)
    #expect(scratch.text(of: "f") == "new")
  }

  @Test func aFolderInThePlaceOfTheTargetIsAFailure() throws {
    mkdir("\(scratch.path)/f", 0o700)
    #expect(throws: TaskFailure.self) { try PartFile(in: folder, for: "f") }
    #expect(scratch.status(of: "f.part") == nil)
  }

  @Test func nobodyElseWritesItMeanwhile() throws {
    let part = try PartFile(in: folder, for: "f")
    do throws(TaskFailure) {
      _ = try PartFile(in: folder, for: "f")
      Issue.record("two have it at once")
    } catch {
      #expect(error.kind == .retry(after: .seconds(1)))
    }
    #expect(part.length == 0)
  }

  @Test func nothingIsWrittenThroughALink() throws {
    try scratch.write("precious", to: "victim")
    symlink("victim", "\(scratch.path)/f.part")
    try PartFile(in: folder, for: "f").append("x")
    #expect(scratch.text(of: "victim") == "precious")
    #expect(scratch.status(of: "f.part").map { $0.st_mode & S_IFMT } == S_IFREG)
  }

  @Test func nothingIsWrittenToAFileWithAnotherName() throws {
    try scratch.write("precious", to: "victim")
    link("\(scratch.path)/victim", "\(scratch.path)/f.part")
    try PartFile(in: folder, for: "f").append("x")
    #expect(scratch.text(of: "victim") == "precious")
  }

  @Test func aPipeIsReplacedAndNotWaitedFor() throws {
    mkfifo("\(scratch.path)/f.part", 0o600)
    try PartFile(in: folder, for: "f").append("x")
    #expect(scratch.text(of: "f.part") == "x")
  }

  @Test func aFolderInItsPlaceIsAFailure() throws {
    mkdir("\(scratch.path)/f.part", 0o700)
    #expect(throws: TaskFailure.self) { try PartFile(in: folder, for: "f") }
  }

  @Test func aNameThatIsTooLongSaysSo() throws {
    do throws(TaskFailure) {
      _ = try PartFile(.disposable, in: folder, for: String(repeating: "x", count: 242))
      Issue.record("the part has a name of 256 bytes")
    } catch {
      #expect(error.kind == .failed)
      #expect(error.message.contains("choose a shorter name"))
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func thePartOfAKilledFetchIsReplacedWhoeverOwnsIt() throws {
    try scratch.write("half a f", to: "f.refreshd-part")
    chown("\(scratch.path)/f.refreshd-part", 4711, 4711)
    #expect(try PartFile(.disposable, in: folder, for: "f").length == 0)
    #expect(scratch.status(of: "f.refreshd-part")?.st_uid == 0)
  }

  @Test func thePartOfAKilledFetchIsReplacedOnAnyFileSystem() throws {
    // A file system without extended attributes leaves no more of it than this.
    try scratch.write("half a f", to: "f.refreshd-part")
    let part = try PartFile(.disposable, in: folder, for: "f")
    #expect(part.length == 0)
    try part.append("a feed")
    try part.replaceTarget()
    #expect(scratch.text(of: "f") == "a feed")
    #expect(scratch.status(of: "f.refreshd-part") == nil)
  }

  @Test func aFetchLeavesThePartOfATransferAlone() throws {
    let mark = try begin("one ")
    let part = try PartFile(.disposable, in: folder, for: "f")
    try part.append("x")
    part.remove()
    #expect(scratch.status(of: "f.refreshd-part") == nil)
    #expect(try PartFile(in: folder, for: "f", marked: mark).length == 4)
  }

  @Test func inItsOwnBootAllOfItCounts() throws {
    let part = try PartFile(in: folder, for: "f")
    try part.append("0123456789")
    let resume = Wire.Resume(durable: 4, boot: "this", partMark: part.mark)
    #expect(resume.kept(of: part, boot: "this") == 10)
  }

  @Test func afterACrashWhatWasMadeDurableCounts() throws {
    let part = try PartFile(in: folder, for: "f")
    try part.append("0123456789")
    let mark = part.mark
    #expect(Wire.Resume(durable: 4, boot: "that", partMark: mark).kept(of: part, boot: "this") == 4)
    // The file system lost bytes that it had reported as durable.
    #expect(Wire.Resume(durable: 40, boot: "that", partMark: mark).kept(of: part, boot: "this") == 10)
  }

  @Test func ofAnotherFileNothingCounts() throws {
    let part = try PartFile(in: folder, for: "f")
    try part.append("0123456789")
    let other = Wire.Resume(durable: 4, boot: "this", partMark: part.mark &+ 1)
    #expect(other.kept(of: part, boot: "this") == 0)
    #expect(Wire.Resume(durable: 4, boot: "this").kept(of: part, boot: "this") == 0)
  }

  @Test func aPartThatHasTakenItsPlaceIsKnownAgain() throws {
    let part = try PartFile(in: folder, for: "f")
    try part.append("0123456789")
    let resume = Wire.Resume(total: 10, durable: 0, boot: "this", partMark: part.mark)
    #expect(CompletedFile(in: folder, named: "f", of: resume) == nil)
    rename("\(scratch.path)/f.part", "\(scratch.path)/f")
    #expect(CompletedFile(in: folder, named: "f", of: resume)?.length == 10)
    #expect(CompletedFile(in: folder, named: "f", of: nil) == nil)
    try scratch.write("01234", to: "f")
    #expect(CompletedFile(in: folder, named: "f", of: resume) == nil, "it is shorter")
  }

  @Test func anotherFileOfTheSameLengthIsNotTheOne() throws {
    let part = try PartFile(in: folder, for: "f")
    try part.append("0123456789")
    try scratch.write("9876543210", to: "f")
    let resume = Wire.Resume(total: 10, durable: 0, boot: "this", partMark: part.mark)
    #expect(CompletedFile(in: folder, named: "f", of: resume) == nil)
  }
}
