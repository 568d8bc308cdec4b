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

/// The changes of pushes for a ``Batch``.
public struct PushChanges: Hashable, Sendable {
  /// The new pushes, in order.
  ///
  /// A push that cannot be saved is refused to its sender, and is not part of the next save.
  public var arrived: [ArrivedPush] = []
  /// The engine's decisions on earlier pushes.
  public var changed: [PushID: PushChange] = [:]
  /// The messages of each app to forget, because their pushes were refused after all.
  public var unseen: [AppID: Set<String>] = [:]

  /// Makes no changes.
  public init() {}

  /// The apps that must have a row.
  var apps: [AppID] {
    let kept = changed.values.compactMap { change -> AppID? in
      if case .kept(let app, _) = change { app } else { nil }
    }
    return kept + arrived.map(\.app)
  }

  /// These changes with the contents of `earlier` that they do not replace.
  func following(_ earlier: PushChanges) -> PushChanges {
    var changes = self
    changes.changed.merge(earlier.changed) { later, _ in later }
    changes.unseen.merge(earlier.unseen) { $0.union($1) }
    return changes
  }
}
