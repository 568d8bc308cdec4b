extension ManagerInterface {
  /// Pauses all apps, in place of a pause before it: until Resume, or as the call says.
  ///
  /// Only what a person asks for starts meanwhile; what is running goes on. The answer comes when it is stored. For root,
  /// the group `refreshd` and the user of a user's daemon.
  public enum Pause: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Pause"

    /// What `Pause` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// Until then, microseconds of the wall clock, at most ten years from now; not with `until_ac`.
      public let untilMicroseconds: Int64?
      /// Whether it is until the machine is on mains power; false if absent.
      public let untilAC: Bool?

      /// Makes it of its parts.
      public init(untilMicroseconds: Int64? = nil, untilAC: Bool? = nil) {
        self.untilMicroseconds = untilMicroseconds
        self.untilAC = untilAC
      }

      private enum CodingKeys: String, CodingKey {
        case untilMicroseconds = "until_us"
        case untilAC = "until_ac"
      }
    }

    /// What `Pause` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The pause; absent when it is over already, as one until mains power is on mains power.
      public let pause: Wire.PauseState?

      /// Makes it of its parts.
      public init(pause: Wire.PauseState? = nil) {
        self.pause = pause
      }
    }
  }
}
