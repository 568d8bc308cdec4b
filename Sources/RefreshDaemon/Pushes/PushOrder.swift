import RefreshAPI
import RefreshEngine
import RefreshStore

/// A push that was checked: there is such an app, and the payload is right.
struct PushOrder {
  /// Why a push is refused for ever, in one line that holds nothing of the payload.
  struct Refusal: Error {
    let text: String
  }

  /// The refusal of a push for an app that is not there.
  static let noApp = "cannot find an app of this id in the configuration"
  /// The most bytes of the id of a message.
  static let mostMessageBytes = 256

  let app: AppID
  let payload: PushPayload
  let urgency: Urgency
  /// The id of the message at its source.
  let message: String?
  /// Whether the source says that it gives the message for the first time.
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

  /// Checks what the bridge has, against the configuration in force.
  init(_ delivery: Wire.Delivery, in configuration: InForce) throws(Refusal) {
    guard let app = AppID(delivery.app).flatMap({ configuration[$0] }) else {
      throw Refusal(text: Self.noApp)
    }
    guard delivery.id.map(Self.isMessage) ?? true else {
      throw Refusal(
        text: "cannot take the id of the message: it is empty or longer than \(Self.mostMessageBytes) bytes")
    }
    do throws(AppInterface.InvalidPayload) {
      self.init(
        app: app.id, payload: try PushPayload(delivery.payload), urgency: delivery.urgency, message: delivery.id,
        isNew: delivery.isNew ?? false)
    } catch {
      throw Refusal(text: error.problem)
    }
  }

  /// Whether it can be the id of a message.
  static func isMessage(_ id: String) -> Bool { (1...mostMessageBytes).contains(id.utf8.count) }

  /// What is to be saved of it under a number of its own; `now` is the boot clock's time.
  func arrived(as id: PushID, at now: Instant) -> ArrivedPush {
    let push =
      payload.isToWake
      ? Push(id: id, payload: payload.text, contentID: payload.contentID, urgency: urgency, at: now) : nil
    return ArrivedPush(id: id, app: app, push: push, message: message, isNew: isNew)
  }
}

/// Why none of some pushes was taken, which may go well later.
struct NotTaken: Error {
  let problem: String

  /// They could not be saved.
  init(_ problem: StoreError) { self.problem = problem.description }

  private init(problem: String) { self.problem = problem }

  /// As much waits as may.
  static let full = NotTaken(problem: "cannot take the push: \(Pushes.mostBytes >> 20) MiB of pushes wait")
}

/// A push that was taken.
struct TakenPush {
  /// What has become of it; nil when its app left the configuration meanwhile.
  var fate: Wire.PushFate?
  /// How many pushes of the app wait, this one among them.
  var waiting = 0
  /// When the limit lets it wake the app, boot clock; nil when it does now, or it is not to.
  var earliest: Instant?
}
