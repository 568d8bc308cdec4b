/// The name of an app in reverse-DNS form, such as `org.example.todo`.
///
/// The form is that of D-Bus well-known names and desktop entries: two or more elements joined by dots, each of
/// letters, digits, `_` and `-` and not beginning with a digit, 255 bytes at most.
public struct AppID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The id as it is written in files and on the socket.
  public let description: String

  /// Takes `text` if it has the form of an app id, else nothing.
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

/// The name of one refresh, unique for the life of the store.
///
/// The commands that run for an app beside its refreshes have such names too: notify commands, questions, keepers,
/// workers.
///
/// The start counter differs after a restart, so that a late report of an old process cannot name a new refresh.
public struct RefreshID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// How often the daemon has started on this store, from 1.
  public let start: UInt32
  /// The refresh's number within that start, from 1.
  public let number: UInt32

  /// Names the `number`th refresh of the `start`th daemon.
  public init(start: UInt32, number: UInt32) {
    self.start = start
    self.number = number
  }

  /// Reads the form that `description` writes, `12-345`; nothing for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let start = UInt32(parts[0]), let number = UInt32(parts[1]) else { return nil }
    self.init(start: start, number: number)
    if description != text { return nil }
  }

  /// The id as text, `12-345`: start counter, number.
  public var description: String { "\(start)-\(number)" }

  /// Order of start.
  public static func < (left: RefreshID, right: RefreshID) -> Bool {
    (left.start, left.number) < (right.start, right.number)
  }
}

/// The name of a lease, given by the daemon to an open connection and never used twice in one start.
public struct LeaseID: Hashable, Comparable, Sendable {
  /// The lease's number within the daemon's start.
  public let number: UInt64

  /// Names a lease by its number.
  public init(_ number: UInt64) { self.number = number }

  /// Order of making.
  public static func < (left: LeaseID, right: LeaseID) -> Bool { left.number < right.number }
}
