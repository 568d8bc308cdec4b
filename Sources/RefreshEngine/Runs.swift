/// The name of a run, unique for the life of the store: of a refresh, or of another command that runs for an app.
///
/// The start counter differs after a restart, so that a late report of an old process cannot name a new run.
public struct RunID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// How often the daemon has started on this store, from 1.
  public let start: UInt32
  /// The run's number within that start, from 1.
  public let number: UInt32

  /// Names the `number`th run of the `start`th daemon.
  public init(start: UInt32, number: UInt32) {
    self.start = start
    self.number = number
  }

  /// Reads the form that `description` writes, `12-345`; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let start = UInt32(parts[0]), let number = UInt32(parts[1]) else { return nil }
    self.init(start: start, number: number)
    if description != text { return nil }
  }

  /// The id as text, `12-345`: start counter, number.
  public var description: String { "\(start)-\(number)" }

  /// Order of start.
  public static func < (left: RunID, right: RunID) -> Bool {
    (left.start, left.number) < (right.start, right.number)
  }
}

/// The name of one refresh.
public struct RefreshID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The run of the refresh.
  public let run: RunID

  /// Names the refresh that is this run.
  public init(_ run: RunID) { self.run = run }

  /// Names the refresh that is the `number`th run of the `start`th daemon.
  public init(start: UInt32, number: UInt32) { run = RunID(start: start, number: number) }

  /// Reads the form that `description` writes, `12-345`; nil for any other text.
  public init?(_ text: String) {
    guard let run = RunID(text) else { return nil }
    self.run = run
  }

  /// The id as text, `12-345`: start counter, number.
  public var description: String { run.description }

  /// Order of start.
  public static func < (left: RefreshID, right: RefreshID) -> Bool { left.run < right.run }
}

/// The purpose of a run other than a refresh; the part of the daemon with this purpose owns the run.
public enum RunOwner: Hashable, Sendable {
  /// Asks the command of an app's own condition.
  case question(Constraint)
  /// Keeps the unit of a guard from running.
  case keeper
  /// Reports something to the app's owner.
  case notice
  /// Reports a refresh to the URL of the app's file.
  case ping
  /// Moves files.
  case worker
}

/// A command that runs for an app beside its refreshes.
public struct Run: Hashable, Sendable {
  /// The name of the run.
  public let id: RunID
  /// The app that it runs for.
  public let app: AppID
  /// Its purpose.
  public let owner: RunOwner

  /// Makes a run.
  public init(_ id: RunID, of app: AppID, for owner: RunOwner) {
    self.id = id
    self.app = app
    self.owner = owner
  }

  /// The constraint that a question asks about; nil for a run with another purpose.
  public var constraint: Constraint? {
    if case .question(let constraint) = owner { constraint } else { nil }
  }
}

/// Names the runs of one daemon: refreshes and other commands share one sequence.
struct RunNumbers: Sendable {
  /// How often the daemon has started on its store.
  let start: UInt32
  private var last: UInt32 = 0

  init(start: UInt32) { self.start = start }

  /// Names the next run.
  mutating func next() -> RunID {
    last += 1
    return RunID(start: start, number: last)
  }
}

/// The name of an app in reverse-DNS form, such as `org.example.todo`.
///
/// The form is that of D-Bus well-known names and desktop entries: two or more elements joined by dots, each of
/// letters, digits, `_` and `-` and not beginning with a digit, 255 bytes at most.
public struct AppID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The id as it is written in files and on the socket.
  public let description: String

  /// Reads an app id; nil for a text of any other form.
  public init?(_ text: String) {
    guard text.utf8.count <= 255 else { return nil }
    var (elements, length) = (1, 0)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: ".") where length > 0: (elements, length) = (elements + 1, 0)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
        UInt8(ascii: "-"):
        length += 1
      case UInt8(ascii: "0")...UInt8(ascii: "9") where length > 0: length += 1
      default: return nil
      }
    }
    guard elements >= 2, length > 0 else { return nil }
    description = text
  }

  /// Byte order of the ids, the order of every list.
  public static func < (left: AppID, right: AppID) -> Bool { left.description < right.description }
}

/// The name that the daemon gives to a lease; a daemon uses each name once.
public struct LeaseID: Hashable, Comparable, Sendable {
  /// The lease's number within the daemon's start.
  public let number: UInt64

  /// Names a lease by its number.
  public init(_ number: UInt64) { self.number = number }

  /// The order in which the leases began.
  public static func < (left: LeaseID, right: LeaseID) -> Bool { left.number < right.number }
}
