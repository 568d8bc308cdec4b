extension AppInterface {
  /// Takes a push for an app.
  ///
  /// The answer comes when it is stored.
  ///
  /// With `aps.content-available` 1 or true in the payload the app is woken: a refresh with the trigger `push` is given
  /// the payload and its `content-id`, which is a string or a number. One push a refresh, and no more than the limit of
  /// the app lets through; the rest wait, in order, and one that waits makes room for a newer one of the same content. At
  /// most 64 wait for an app: then the oldest is dropped, and that is told. Without `content-available` those who are
  /// attached are told, and nothing is started.
  public enum Push: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.App.Push"

    /// What `Push` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app in reverse-DNS form, such as `org.example.todo`.
      public let app: String
      /// The text of one JSON object, at most 4,096 bytes of UTF-8.
      public let payload: String
      /// Its urgency; `normal` if absent.
      public let urgency: Wire.Urgency?
      /// The id of the message where it comes from, 1 to 256 bytes.
      ///
      /// What was taken for the app under it before, among its last 1,000 and within 30 days, is not taken again.
      public let id: String?

      /// Makes it of its parts.
      public init(app: String, payload: String, urgency: Wire.Urgency? = nil, id: String? = nil) {
        self.app = app
        self.payload = payload
        self.urgency = urgency
        self.id = id
      }
    }

    /// What `Push` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// What has become of it.
      public let fate: Wire.PushFate
      /// How many pushes of the app wait, this one among them.
      public let waiting: Int
      /// When the limit lets it through, microseconds of the wall clock.
      ///
      /// Absent when it does now, and for one that does not wait.
      public let earliestMicroseconds: Int64?

      /// Makes it of its parts.
      public init(fate: Wire.PushFate, waiting: Int, earliestMicroseconds: Int64? = nil) {
        self.fate = fate
        self.waiting = waiting
        self.earliestMicroseconds = earliestMicroseconds
      }

      private enum CodingKeys: String, CodingKey {
        case fate
        case waiting
        case earliestMicroseconds = "earliest_us"
      }
    }
  }
}
