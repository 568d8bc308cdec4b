import RefreshAPI
import RefreshEngine
import RefreshStore

// Pushes as the socket shows them, without their payloads.

extension Wire.PushWaiting {
  init(_ waiting: WaitingPush, wallOffset: Duration) {
    let (word, until) = waiting.wait.wire
    self.init(
      contentID: waiting.push.contentID, urgency: Wire.Urgency(waiting.push.urgency),
      arrivedMicroseconds: waiting.push.arrivedAt.wallMicroseconds(at: wallOffset),
      merged: Int(waiting.push.merged), wait: word, untilMicroseconds: until?.wallMicroseconds(at: wallOffset))
  }
}

extension WaitingPush.Wait {
  /// The word for the wait, and its end if that is known.
  var wire: (word: String, until: Instant?) {
    switch self {
    case .ready: ("ready", nil)
    case .turn: ("turn", nil)
    case .limit(let until): ("limit", until)
    case .retry(let until): ("retry", until)
    case .urgency: ("urgency", nil)
    case .terminated: ("terminated", nil)
    }
  }
}

extension Wire.DroppedPush {
  init(_ push: StoredDroppedPush) {
    self.init(
      contentID: push.contentID, arrivedMicroseconds: push.arrivedWallMicroseconds,
      droppedMicroseconds: push.droppedWallMicroseconds, merged: Int(push.merged))
  }
}
