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

/// The name of a lease, given by the daemon to an open connection and never used twice in one start.
public struct LeaseID: Hashable, Comparable, Sendable {
  /// The lease's number within the daemon's start.
  public let number: UInt64

  /// Names a lease by its number.
  public init(_ number: UInt64) { self.number = number }

  /// Order of making.
  public static func < (left: LeaseID, right: LeaseID) -> Bool { left.number < right.number }
}
