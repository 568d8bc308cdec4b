import Glibc
import JSON
import Systemd

/// `refresh-worker notify`: has the owner's desktop show a few words (Desktop Notifications Specification 1.2).
///
/// They come as a JSON object on standard input.
struct Notification: JSONReadable, Hashable, Sendable {
  /// The app's name.
  let title: String
  /// The app's words.
  let body: String

  init(title: String, body: String) {
    (self.title, self.body) = (title, body)
  }

  init(from json: inout JSONReader) throws(JSONError) {
    let members = try [String: JSONValue](from: &json)
    guard case .text(let title) = members["title"], case .text(let body) = members["body"] else {
      throw json.error(.expected("title and body"), at: 0)
    }
    self.init(title: title, body: body)
  }

  /// Does all of it, and gives the exit code.
  static func run() -> Int32 {
    if let trouble = Confinement.enter() {
      complain(trouble.message)
      return EX_OSERR
    }
    guard let notification = Surroundings.order(as: Notification.self) else { return EX_USAGE }
    do {
      try notification.show(on: .user)
      return EX_OK
    } catch {
      complain("cannot show a notification on the desktop: \(error)")
      return EX_UNAVAILABLE
    }
  }

  /// Shows it, on a desktop whose service for it may have to be started first.
  func show(on bus: BusAddress) throws {
    let session = try BusSession(bus, patience: 20_000_000)
    do throws(BusError) {
      _ = try session.call(
        BusMethod(
          "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
          name: "StartServiceByName", arguments: [.string(Self.service), .uint32(0)]))
    } catch  where error.isNobodyThere {
      // The bus cannot start it, which says nothing of one that runs.
    }
    _ = try session.call(call)
  }

  private static let service = "org.freedesktop.Notifications"

  /// The call of `Notify`.
  var call: BusMethod {
    BusMethod(
      Self.service, path: "/org/freedesktop/Notifications", interface: Self.service, name: "Notify",
      arguments: [
        .string(title), .uint32(0), .string(""), .string(title), .string(Self.escaped(body)), .strings([]),
        .array(of: "{sv}", []), .int32(-1),
      ])
  }

  /// The words as they are, where the desktop takes markup.
  static func escaped(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.append(character)
      }
    }
  }
}
