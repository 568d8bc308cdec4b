import RefreshAPI

/// A push that the daemon has taken.
struct SentPush {
  /// The id of the app.
  let app: String
  /// What it is about; nil if it does not say.
  let contentID: String?
  /// What the daemon answered.
  let reply: AppInterface.Push.Reply
}

extension Screen {
  /// What becomes of a push, in a sentence.
  ///
  /// - Parameter why: the app right after it; nil if nobody knows.
  func sentence(_ sent: SentPush, _ why: Wire.Explanation?) -> String {
    let name = printable(why?.name ?? sent.app)
    let content = sent.contentID.map { " with content \(printable($0))" } ?? ""
    switch sent.reply.fate {
    case .told:
      return "\(name) is not woken, because the payload has no `content-available`: what is attached to it is told."
    case .known: return "\(name) is not told again: a push with this id was taken before."
    case .queued, .merged:
      let woken = "\(name) is woken\(content)"
      let end = sent.reply.fate == .merged ? ", in the place of one that waited" : ""
      guard let wait = wait(of: sent, why) else { return "\(woken) now\(end)." }
      return "\(woken) later\(end)\(wait)."
    }
  }

  /// What a push waits for, as the end of a sentence; nil when the app has it, or nothing is in its way.
  private func wait(of sent: SentPush, _ why: Wire.Explanation?) -> String? {
    guard let why, let pushes = why.pushes, let index = pushes.lastIndex(where: { $0.contentID == sent.contentID })
    else {
      return sent.reply.earliestMicroseconds.map { ": one more push may wake it \(clock($0)) (\(relative($0)))" }
    }
    let push = pushes[index]
    switch push.wait {
    case "ready":
      if let running = why.running { return ": when the refresh that is running has ended (\(running.id))" }
      return why.verdict == .held ? ". " + held(why).dropLast() : nil
    case "turn":
      let end = why.verdict == .held ? ". " + held(why).dropLast() : opening(of: pushes)
      return ": \(count(index, "push waits", "pushes wait")) before it" + end
    case "limit":
      let next = push.untilMicroseconds.map { ", next \(clock($0)) (\(relative($0)))" } ?? ""
      guard let limit = why.pushLimit else { return ": too many pushes\(next)" }
      return ": \(count(limit.used, "push", "pushes")) in the last \(limit.span)\(next)"
    case "terminated": return ": the user has ended it; its next start lifts that, or `refreshctl launched \(why.id)`"
    default: return ": it \(words(push, of: why))"
    }
  }

  /// When the limit lets one more through, of pushes that wait for it.
  private func opening(of pushes: [Wire.PushWaiting]) -> String {
    guard let until = pushes.first(where: { $0.wait == "limit" })?.untilMicroseconds else { return "" }
    return ", and the next one wakes it \(clock(until)) (\(relative(until)))"
  }

  /// What is to be known of the pushes of an app, if there is anything.
  func tellPushes(of why: Wire.Explanation, in facts: inout Facts, width: Int) {
    let waiting = why.pushes ?? []
    let dropped = why.pushesDropped ?? []
    var lines = waiting.prefix(Self.mostPushes).flatMap { push in
      wrapped("\(title(push)), came \(clock(push.arrivedMicroseconds)): \(words(push, of: why))", within: width)
    }
    if waiting.count > Self.mostPushes { lines.append("and \(waiting.count - Self.mostPushes) more") }
    facts.add("pushes", lines)
    if let limit = why.pushLimit, limit.used > 0 || !waiting.isEmpty || !dropped.isEmpty {
      facts.add("push limit", "\(limit.used) of \(limit.burst) in the last \(limit.span), \(limit.perHour) an hour")
    }
    let drops = dropped.map { "\(title($0)), came \(clock($0.arrivedMicroseconds)): \($0.reason)" }
    facts.add("dropped", drops.flatMap { wrapped($0, within: width) }.map { paint($0, .bad) })
  }

  /// How many pushes are told one by one: people do not read more.
  private static let mostPushes = 10

  private func title(_ push: Wire.PushWaiting) -> String {
    "\(content(push.contentID))\(push.urgency == .normal ? "" : ", \(push.urgency.spelled)")\(others(push.merged))"
  }

  private func title(_ push: Wire.DroppedPush) -> String { content(push.contentID) + others(push.merged) }

  /// What a push waits for, behind "it".
  private func words(_ push: Wire.PushWaiting, of why: Wire.Explanation) -> String {
    let until = push.untilMicroseconds.map { " \(clock($0))" } ?? ""
    return switch push.wait {
    case "ready" where why.running != nil: "waits for the end of the refresh that is running"
    case "ready": why.holds.isEmpty ? "is the next one" : "waits as the app does"
    case "turn": "waits for those before it"
    case "limit": "waits for the limit until\(until)"
    case "retry": "is told again\(until), because its refresh failed"
    case "urgency": "waits for \(push.urgency.need)"
    case "terminated": "waits for the app, which the user has ended"
    default: "waits for \(printable(push.wait))\(until)"
    }
  }
}

/// What a push is about: `content 42`.
func content(_ contentID: String?) -> String { contentID.map { "content \(printable($0))" } ?? "no content id" }

/// How many pushes one has taken the place of: `, in the place of 2 others`.
func others(_ merged: Int) -> String { merged == 0 ? "" : ", in the place of \(count(merged, "other"))" }

extension Wire.DroppedPush {
  /// Why it was dropped.
  var reason: String { "too many newer ones waited" }
}

extension Wire.PushLimit {
  /// The length of the window that it looks at: `100 min`.
  var span: String {
    let minutes = (burst * 60 + perHour / 2) / max(1, perHour)
    return minutes < 120 ? "\(minutes) min" : Elapsed.rough(Int64(minutes) * 60_000_000)
  }
}

extension Wire.Urgency {
  /// What it asks of the machine.
  fileprivate var need: String {
    switch self {
    case .veryLow: "mains power and an unmetered network"
    case .low: "mains power or an unmetered network"
    case .normal: "mains power or a battery that is not low"
    case .high: "nothing"
    }
  }
}
