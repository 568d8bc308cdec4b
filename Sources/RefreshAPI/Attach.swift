extension AppInterface {
  /// Attaches to an app: from now on this connection performs its refreshes, in the place of the commands in its file.
  ///
  /// Only with `more`; the first event is `attached`, and events come until the connection ends. Nothing else can be
  /// called on the connection meanwhile, so call Complete on another one.
  ///
  /// An attachment is a lease of `launched` as well. Of several connections that are attached to one app, the one that
  /// attached first performs; when it leaves, the next one in order takes its place. Leaving in the middle of a refresh
  /// fails it at once. A connection that has not called Complete when the grace after `cancelled` is over is late: it is
  /// given no more refreshes until it completes that one after all, which is answered with NoSuchToken and shows that it
  /// lives, or attaches anew.
  public enum Attach: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.App.Attach"

    /// What `Attach` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app in reverse-DNS form, such as `org.example.todo`.
      public let app: String

      /// Makes it of its parts.
      public init(app: String) {
        self.app = app
      }
    }

    /// What `Attach` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// What has happened.
      public let event: Wire.AttachEvent

      /// Makes it of its parts.
      public init(event: Wire.AttachEvent) {
        self.event = event
      }
    }
  }
}
