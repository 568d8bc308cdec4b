import RefreshAPI

/// A push that the daemon has accepted.
struct SentPush {
  let app: String
  /// The `content-id` of the payload.
  let contentID: String?
  let reply: AppInterface.Push.Reply
}

extension Screen {
  /// The time at which a push wakes its app, in a sentence.
  ///
  /// `why` is the state of the app right after the push; nil if unknown.
  func sentence(_ sent: SentPush, _ why: Wire.Explanation?) -> String {
    let name = why.map { named($0.name, $0.id) } ?? printable(sent.app)
    let content = sent.contentID.map { " with content \(printable($0))" } ?? ""
    switch sent.reply.fate {
    case .told:
      return "\(name) is not woken, because the payload has no `content-available`; only attached processes receive it."
    case .known: return "\(name) is not woken again: a push with this id was accepted before."
    case .queued, .merged:
      let woken = "\(name) is woken\(content)"
      let end = sent.reply.fate == .merged ? ", instead of a waiting push" : ""
      guard let wait = wait(of: sent, why) else { return "\(woken) now\(end)." }
      return "\(woken) later\(end)\(wait)."
    }
  }

  /// The reason why a push waits, as the end of a sentence; nil if it does not wait.
  private func wait(of sent: SentPush, _ why: Wire.Explanation?) -> String? {
    guard let why, let pushes = why.pushes, let index = pushes.lastIndex(where: { $0.contentID == sent.contentID })
    else {
      return sent.reply.earliestMicroseconds.map {
        ": its limit lets the next push through \(clockAndRelative($0))"
      }
    }
    let push = pushes[index]
    switch push.wait {
    case "ready":
      if let running = why.running { return ": after the refresh that is running (\(running.id))" }
      return why.verdict == .held ? ". " + unended(held(why)) : nil
    case "turn":
      let end = why.verdict == .held ? ". " + unended(held(why)) : opening(of: pushes)
      return ": \(count(index, "push waits", "pushes wait")) before it" + end
    case "limit":
      let next = push.untilMicroseconds.map { ", next \(clockAndRelative($0))" } ?? ""
      guard let limit = why.pushLimit else { return ": too many pushes\(next)" }
      return ": \(count(limit.used, "push", "pushes")) in the last \(limit.span)\(next)"
    case "terminated": return ": the user has quit it; start it, or run `refreshctl launched \(why.id)`"
    default: return ": it \(words(push, of: why))"
    }
  }

  /// The sentence without its full stop, if it has one.
  private func unended(_ sentence: String) -> String {
    sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }

  /// The time at which the limit lets the next push through, as the end of a sentence.
  private func opening(of pushes: [Wire.PushWaiting]) -> String {
    guard let until = pushes.first(where: { $0.wait == "limit" })?.untilMicroseconds else { return "" }
    return ", and the next one wakes it \(clockAndRelative(until))"
  }

  /// Adds the pushes of an app, its push limit and its dropped pushes.
  func addPushes(of why: Wire.Explanation, to facts: inout Facts, width: Int) {
    let waiting = why.pushes ?? []
    let dropped = why.pushesDropped ?? []
    var lines = waiting.prefix(Self.mostPushes).flatMap { push in
      wrapped("\(title(push)), came \(clock(push.arrivedMicroseconds)): \(words(push, of: why))", within: width)
    }
    if waiting.count > Self.mostPushes { lines.append("and \(waiting.count - Self.mostPushes) more") }
    facts.add("pushes", lines)
    if let limit = why.pushLimit, limit.used > 0 || !waiting.isEmpty || !dropped.isEmpty {
      let last = limit.burst > 1 && limit.used == limit.burst - 1 ? "; the last is kept for an urgent push" : ""
      facts.add(
        "push limit", "\(limit.used) of \(limit.burst) in the last \(limit.span), \(limit.perHour) an hour\(last)")
    }
    let drops = dropped.map { "\(title($0)), came \(clock($0.arrivedMicroseconds)): \($0.reason)" }
    facts.add("dropped", drops.flatMap { wrapped($0, within: width) }.map { paint($0, .bad) })
  }

  /// The most pushes that are listed; the others are counted.
  private static let mostPushes = 10

  private func title(_ push: Wire.PushWaiting) -> String {
    "\(content(push.contentID))\(push.urgency == .normal ? "" : ", \(push.urgency.hyphenated)")\(others(push.merged))"
  }

  private func title(_ push: Wire.DroppedPush) -> String { content(push.contentID) + others(push.merged) }

  /// The pushes that still wait at the end of a forecast, in a few words.
  func words(_ pushes: [Wire.PushWaiting]) -> [String] {
    pushes.prefix(Self.mostPushes).map { push in
      let wait =
        switch push.wait {
        case "ready", "turn": "waits until the app is no longer held"
        case "terminated": "waits for the next start of the app, which the user has quit"
        case "urgency": "waits for \(push.urgency.need)"
        default: "waits for \(printable(push.wait))"
        }
      return "a push with \(title(push)), came \(clock(push.arrivedMicroseconds)): \(wait)"
    } + (pushes.count > Self.mostPushes ? ["and \(pushes.count - Self.mostPushes) more pushes"] : [])
  }

  /// The state of a waiting push, to follow "it".
  func words(_ push: Wire.PushWaiting, of why: Wire.Explanation) -> String {
    let until = push.untilMicroseconds.map { " \(clock($0))" } ?? ""
    return switch push.wait {
    case "ready" where why.running != nil: "waits for the end of the refresh that is running"
    case "ready": why.holds.isEmpty ? "is the next one" : "waits until the app is no longer held"
    case "turn": "waits for the pushes before it"
    case "limit": "waits for the limit until\(until)"
    case "retry": "is retried\(until), because its refresh failed"
    case "urgency": "waits for \(push.urgency.need)"
    case "terminated": "waits for the next start of the app, which the user has quit"
    default: "waits for \(printable(push.wait))\(until)"
    }
  }
}

/// The content of a push: `content 42`.
func content(_ contentID: String?) -> String { contentID.map { "content \(printable($0))" } ?? "no content id" }

/// The number of pushes that a push has replaced: `, instead of 2 others`.
func others(_ merged: Int) -> String { merged == 0 ? "" : ", instead of \(count(merged, "other"))" }

extension Wire.DroppedPush {
  /// The reason for the drop.
  var reason: String { "too many newer pushes waited" }
}

extension Wire.PushLimit {
  /// The length of the window in which the limit counts: `100 min`.
  var span: String {
    let minutes = (burst * 60 + perHour / 2) / max(1, perHour)
    return minutes < 120 ? "\(minutes) min" : Elapsed.rough(Int64(minutes) * 60_000_000)
  }
}

extension Wire.Urgency {
  /// The machine condition that the urgency asks for.
  fileprivate var need: String {
    switch self {
    case .veryLow: "mains power and an unmetered network"
    case .low: "mains power or an unmetered network"
    case .normal: "mains power or a battery that is not low"
    case .high: "nothing"
    }
  }
}
