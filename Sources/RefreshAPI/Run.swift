extension ManagerInterface {
  /// Refreshes an app now, whatever its interval says, and waits until the refresh has ended.
  ///
  /// With `more` every step is an answer, `finished` the last; without it `finished` is the only one. If a refresh of
  /// the app is running, one more is run after it (event `queued`), never two at once; calls that come meanwhile share
  /// that one. A refresh that is held by what passes by itself waits for that (event `held`, once). A connection that ends
  /// stops nothing.
  public enum Run: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Run"

    /// What `Run` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String
      /// What the tasks shall be told started them; `manual` if absent.
      public let trigger: Wire.Trigger?

      /// Makes it of its parts.
      public init(app: String, trigger: Wire.Trigger? = nil) {
        self.app = app
        self.trigger = trigger
      }
    }

    /// What `Run` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The step.
      public let event: Wire.RunEvent

      /// Makes it of its parts.
      public init(event: Wire.RunEvent) {
        self.event = event
      }
    }
  }
}
