extension ManagerInterface {
  /// What is learnt of an app: when it is opened, how often it has something new, and what a refresh costs.
  public enum Usage: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Usage"

    /// What `Usage` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String

      /// Makes it of its parts.
      public init(app: String) {
        self.app = app
      }
    }

    /// What `Usage` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// What is learnt; absent while nothing is, and for an app whose interval is its schedule.
      public let habits: Wire.Habits?

      /// Makes it of its parts.
      public init(habits: Wire.Habits? = nil) {
        self.habits = habits
      }
    }
  }

  /// Forgets what is learnt of each app: it is learnt anew.
  ///
  /// All apps or none; the answer comes when it is stored.
  public enum Forget: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Forget"

    /// What `Forget` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The ids of the apps, at least one.
      public let apps: [String]

      /// Makes it of its parts.
      public init(apps: [String]) {
        self.apps = apps
      }
    }

    /// What `Forget` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The apps in the order of the call.
      public let apps: [Wire.App]

      /// Makes it of its parts.
      public init(apps: [Wire.App]) {
        self.apps = apps
      }
    }
  }
}
