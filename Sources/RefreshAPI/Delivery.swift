extension Wire {
  /// A message that a source has for an app.
  public struct Delivery: Codable, Hashable, Sendable {
    /// The id of the app in reverse-DNS form, such as `org.example.todo`.
    public let app: String
    /// The text of one JSON object, as for ``AppInterface/Push``.
    public let payload: String
    /// Its urgency; `normal` if absent.
    public let urgency: Urgency?
    /// The id of the message where it comes from, 1 to 256 bytes.
    ///
    /// What was taken for the app under it before is not taken again.
    public let id: String?
    /// Whether the source says that it gives this message for the first time; false if absent.
    ///
    /// An id that is known is then one that it uses again, and the message is taken.
    public let isNew: Bool?

    /// Makes it of its parts.
    public init(app: String, payload: String, urgency: Urgency? = nil, id: String? = nil, isNew: Bool? = nil) {
      self.app = app
      self.payload = payload
      self.urgency = urgency
      self.id = id
      self.isNew = isNew
    }

    private enum CodingKeys: String, CodingKey {
      case app
      case payload
      case urgency
      case id
      case isNew = "is_new"
    }
  }

  /// What has become of a delivery: either field.
  public struct DeliveryResult: Codable, Hashable, Sendable {
    /// What has become of the push.
    public let fate: PushFate?
    /// Why it is refused for ever, in one line without anything of the payload: it is not to be sent again.
    public let refusal: String?

    /// Makes it of its parts.
    public init(fate: PushFate? = nil, refusal: String? = nil) {
      self.fate = fate
      self.refusal = refusal
    }
  }
}
