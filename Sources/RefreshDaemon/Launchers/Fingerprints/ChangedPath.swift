import RefreshEngine

/// The path that tells whether a task brought new data, from the look before the start to the look after the end.
struct ChangedPath {
  let path: String
  /// The answer of the look before the start; nil before that look, and if a previous daemon did not keep it.
  var before: PathLook?
  /// When the refresh is asked to end, boot clock; nil for a task of a previous daemon.
  private let deadline: Instant?

  init(_ path: String, deadline: Instant?) { (self.path, self.deadline) = (path, deadline) }

  /// How long the look before the start may take: a quarter of the task's time.
  func boundBefore(at now: Instant) -> Duration { left(at: now) / 4 }

  /// How long the look after the end may take: an ended task must not pass its deadline by it.
  func boundAfter(at now: Instant) -> Duration { max(.milliseconds(100), left(at: now) / 2) }

  private func left(at now: Instant) -> Duration {
    deadline.map { max(.zero, now.duration(to: $0)) } ?? FingerprintReader.longest
  }

  /// A task's end with the answer whether the path has changed; `after` is nil if it did not answer in time.
  func judged(_ end: TaskEnd, after: PathLook?) -> TaskEnd {
    var end = end
    switch (before ?? .unknown("nobody knows how it was before"), after ?? .unknown("it did not answer in time")) {
    case (.seen(let before), .seen(let after)): end.changed = before != after
    case (.unknown(let reason), _), (_, .unknown(let reason)):
      end.changed = nil
      if end.exit == .exited(0) { end.message = "cannot tell whether \(path) changed: \(reason)" }
    }
    return end
  }
}

extension NewData {
  /// The path to look at before and after the task, if it judges the task.
  var path: String? {
    if case .changed(let path) = self { path } else { nil }
  }
}
