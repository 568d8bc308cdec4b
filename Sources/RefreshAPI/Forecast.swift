extension ManagerInterface {
  /// What would start when, and what would not and why.
  ///
  /// Worked out by the engine that starts the refreshes. It is assumed that each refresh ends at once and with no data,
  /// that phases, conditions and the user's word stay as they are, and that nothing but time asks for a refresh.
  public enum Forecast: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Forecast"

    /// What `Forecast` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// How far to look, hours, from 1 to 168; 24 if absent.
      public let hours: Int?
      /// The id of the app to tell about; all that the caller may ask about if absent.
      public let app: String?

      /// Makes it of its parts.
      public init(hours: Int? = nil, app: String? = nil) {
        self.hours = hours
        self.app = app
      }
    }

    /// What `Forecast` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// From when it is, microseconds of the wall clock.
      public let fromMicroseconds: Int64
      /// Until when it is, microseconds of the wall clock.
      public let untilMicroseconds: Int64
      /// Whether it ends before the hours that were asked for, because there is more to tell than anybody reads.
      public let isCut: Bool
      /// The wakes that would start refreshes, in order of time.
      public let wakes: [Wire.ForecastWake]
      /// The apps that would not start, by id.
      public let rest: [Wire.ForecastRest]

      /// Makes it of its parts.
      public init(
        fromMicroseconds: Int64, untilMicroseconds: Int64, isCut: Bool, wakes: [Wire.ForecastWake],
        rest: [Wire.ForecastRest]
      ) {
        self.fromMicroseconds = fromMicroseconds
        self.untilMicroseconds = untilMicroseconds
        self.isCut = isCut
        self.wakes = wakes
        self.rest = rest
      }

      private enum CodingKeys: String, CodingKey {
        case fromMicroseconds = "from_us"
        case untilMicroseconds = "until_us"
        case isCut = "is_cut"
        case wakes
        case rest
      }
    }
  }
}
