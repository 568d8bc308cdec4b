import RefreshAPI
import RefreshEngine
import RefreshStore

/// A checked push: its app is configured, and its payload is valid.
struct CheckedPush {
  /// Why a push can never be accepted, in one line without anything of the payload.
  struct Refusal: Error {
    let text: String
  }

  /// The refusal of a push for an unknown app.
  static let noApp = "cannot find an app with this id in the configuration: write a file for the app, then reload"
  /// The most bytes of the id of a message.
  static let mostMessageBytes = 256

  let app: AppID
  let payload: PushPayload
  let urgency: Urgency
  /// The id of the message at its source.
  let message: String?
  /// Whether the source reports that it sends the message for the first time.
  var isNew = false

  init(
    app: AppID, payload: PushPayload, urgency: Wire.Urgency?, message: String?, isNew: Bool = false
  ) {
    self.app = app
    self.payload = payload
    self.urgency = urgency.map(Urgency.init) ?? .normal
    self.message = message
    self.isNew = isNew
  }

  /// Checks a push of the bridge against the configuration in force.
  init(_ delivery: Wire.Delivery, in configuration: ConfigurationInForce) throws(Refusal) {
    guard let app = AppID(delivery.app).flatMap({ configuration[$0] }) else {
      throw Refusal(text: Self.noApp)
    }
    if let unit = app.policy.guarded {
      throw Refusal(text: "cannot push to \(app.id): it guards \(unit.name) and refreshes nothing")
    }
    guard delivery.id.map(Self.isMessage) ?? true else {
      throw Refusal(
        text: "cannot use the id of the message: it is empty or longer than \(Self.mostMessageBytes) bytes")
    }
    do throws(AppInterface.InvalidPayload) {
      self.init(
        app: app.id, payload: try PushPayload(delivery.payload), urgency: delivery.urgency, message: delivery.id,
        isNew: delivery.isNew ?? false)
    } catch {
      throw Refusal(text: error.problem)
    }
  }

  /// Whether a text can be the id of a message.
  static func isMessage(_ id: String) -> Bool { (1...mostMessageBytes).contains(id.utf8.count) }

  /// The push with a new number, for the store; `now` is the boot clock's time.
  func arrived(as id: PushID, at now: Instant) -> ArrivedPush {
    let push =
      payload.isToWake
      ? Push(id: id, payload: payload.text, contentID: payload.contentID, urgency: urgency, at: now) : nil
    return ArrivedPush(id: id, app: app, push: push, message: message, isNew: isNew)
  }
}

/// Why pushes were not accepted, which may be sent again.
struct PushRefusal: Error {
  let problem: String

  /// Makes the refusal of pushes that could not be saved.
  init(_ problem: StoreError) { self.problem = problem.description }

  private init(problem: String) { self.problem = problem }

  /// Makes the refusal of pushes that exceed the memory for waiting pushes.
  static func full(for apps: Set<AppID>) -> PushRefusal {
    let names = apps.sorted().prefix(3).map(\.description).joined(separator: ", ") + (apps.count > 3 ? ", ..." : "")
    return PushRefusal(
      problem: "cannot accept the push for \(names): \(PushLedger.mostBytes >> 20) MiB of pushes wait for apps; "
        + "let the apps with pushes run (refreshctl why APP), and send it again")
  }
}

/// A push that was accepted.
struct AcceptedPush {
  /// The fate of the push; nil if its app left the configuration meanwhile.
  var fate: Wire.PushFate?
  /// How many pushes of the app wait, including this push.
  var waiting = 0
  /// When the limit lets the push wake the app, boot clock; nil for now, or if the push wakes no app.
  var earliest: Instant?
}
