import RefreshEngine

/// Pushes: their senders, and the limit of wakes for an app.
extension World {
  mutating func happenToPushes() {
    guard healedAt == nil else { return healPushes() }
    expect(
      .pushes,
      in: fortune.duration(fortune.pick([.zero ... .seconds(20), .zero ... .minutes(20), .zero ... .hours(4)])))
    guard brain != nil else { return }
    let app = fortune.pick(ids)
    if fortune.happens(4) {
      // More pushes than may wait, each with its own content id.
      for _ in 0..<70 { push(to: app, about: "\(lastPush)") }
    } else {
      for _ in 0...fortune.number(below: 3) { push(to: app, about: subject()) }
    }
    if fortune.happens(10) { handle(.signalled(app, fortune.pick([.terminated, .terminated, .launched]))) }
  }

  private mutating func subject() -> String? {
    fortune.happens(70) ? "\(fortune.number(below: fortune.happens(50) ? 3 : 1000))" : nil
  }

  /// Saves a push, and then gives it to the engine; an unsaved push is refused.
  private mutating func push(to app: AppID, about contentID: String?) {
    guard brain != nil, !isDiskFull, book.apps[app]?.policy != nil else { return }
    lastPush += 1
    let push = Push(
      id: PushID(lastPush), payload: contentID == nil ? fortune.pick(["a", "b"]) : "\(lastPush)", contentID: contentID,
      urgency: fortune.pick(Urgency.allCases), at: instant)
    store.take(push, for: app)
    if fortune.happens(3) { kill() } else { handle(.pushed(app, push)) }
  }

  /// Makes every app run that the user has ended, so that nothing holds pushes.
  private mutating func healPushes() {
    for id in ids { handle(.signalled(id, .launched)) }
  }
}
