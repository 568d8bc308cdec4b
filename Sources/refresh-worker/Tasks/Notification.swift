import Glibc
import JSON
import RefreshAPI
import Systemd

/// `refresh-worker notify`: shows a notification on the owner's desktop (Desktop Notifications Specification 1.2).
///
/// Standard input has the notification as a JSON object.
struct Notification: JSONReadable, Hashable, Sendable {
  /// The app's name.
  let title: String
  /// The text of the notification.
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

  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    let notification = TaskContext.confinedOrder(as: Notification.self)
    do {
      try notification.show(on: .user)
      return EX_OK
    } catch {
      logError("cannot show a notification on the desktop: \(error)")
      return EX_UNAVAILABLE
    }
  }

  /// Shows the notification; starts the notification service first if D-Bus can.
  func show(on bus: BusAddress) throws {
    let session = try BusSession(bus, patience: 20_000_000)
    do throws(BusError) {
      _ = try session.call(
        BusMethod(
          "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
          name: "StartServiceByName", arguments: [.string(Self.service), .uint32(0)]))
    } catch  where error.isNobodyThere {
      // D-Bus cannot start the service, but it may be running all the same.
    }
    _ = try session.call(call)
  }

  private static let service = "org.freedesktop.Notifications"

  /// The call of `Notify`.
  var call: BusMethod {
    BusMethod(
      Self.service, path: "/org/freedesktop/Notifications", interface: Self.service, name: "Notify",
      arguments: [
        .string(title), .uint32(0), .string(""), .string(title), .string(body.withoutMarkup), .strings([]),
        .array(of: "{sv}", []), .int32(-1),
      ])
  }
}
