import RefreshEngine

extension Timeline {
  /// Takes a line about pushes.
  mutating func tellOfPushes(_ command: String, _ rest: [String]) throws {
    guard command == "push" else {
      let id = try appID(try rest.word(0))
      let waiting = engine?.explain(id, at: instant)?.pushes ?? []
      return write("pushes \(id.name): \(waiting.map(text).joined(separator: ", "))")
    }
    let number = try rest.number(0)
    let app = try appID(try rest.word(1))
    var contentID: String?
    var urgency = Urgency.normal
    var payload: String?
    for word in rest.dropFirst(2) {
      let parts = word.split(separator: "=").map(String.init)
      switch parts[0] {
      case "urgency": urgency = try parts.word(1).read(Urgency.init(rawValue:))
      case "payload": payload = try parts.word(1)
      default: contentID = word
      }
    }
    handle(
      .pushed(
        app,
        Push(
          id: PushID(number), payload: payload ?? "\(contentID ?? "")#\(number)", contentID: contentID,
          urgency: urgency, at: instant)))
  }

  /// The report of a start: the session of transfers, or the payload.
  func news(of refresh: RefreshID) -> String {
    let session = engine?.started(of: refresh)?.session
    return [session, engine?.push(deliveredBy: refresh)?.payload].compactMap(\.self).map { " \($0)" }.joined()
  }

  private func text(of waiting: WaitingPush) -> String {
    let push = waiting.push
    let name = push.merged > 0 ? "\(push.payload) (\(push.merged) merged)" : push.payload
    return switch waiting.wait {
    case .ready: "\(name) ready"
    case .turn: "\(name) in turn"
    case .limit(let until): "\(name) not before \(timeText(until))"
    case .retry(let until): "\(name) again at \(timeText(until))"
    case .urgency: "\(name) waits for conditions"
    case .terminated: "\(name) waits for the app"
    }
  }
}

extension Push {
  /// The push with every instant moved.
  func moved(_ move: (Instant) -> Instant) -> Push {
    var push = self
    push.arrivedAt = move(arrivedAt)
    push.earliest = move(earliest)
    return push
  }
}
