import RefreshEngine

/// A new push to save, unless its message was accepted before.
public struct ArrivedPush: Hashable, Sendable {
  /// Its number.
  public var id: PushID
  /// Its app.
  public var app: AppID
  /// The push that wakes the app; nil if only the message id is saved.
  public var push: Push?
  /// The id of its message at its source; nil if it has none.
  public var message: String?
  /// Whether the source says that the message is new; a known id is then a reused id.
  public var isNew: Bool

  /// Makes a push from its parts.
  public init(id: PushID, app: AppID, push: Push?, message: String? = nil, isNew: Bool = false) {
    self.id = id
    self.app = app
    self.push = push
    self.message = message
    self.isNew = isNew
  }
}
