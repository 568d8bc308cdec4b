import RefreshEngine
import Systemd

/// The path that tells whether a task brought new data, from the look before the start to the look after the end.
struct ChangedPath {
  let path: String
  /// The answer of the look before the start; nil before that look, and if a previous daemon did not keep it.
  var before: PathLook?
  /// When the refresh is asked to end, boot clock, in microseconds; nil for a task of a previous daemon.
  var deadline: Int64?

  init(_ path: String, timeLimit: Duration?) {
    self.path = path
    deadline = timeLimit.map { EventLoop.bootMicroseconds() + $0.inMicroseconds }
  }

  /// How long the look before the start may take: a quarter of the task's time.
  var boundBefore: Duration { left / 4 }

  /// How long the look after the end may take: an ended task must not pass its deadline by it.
  var boundAfter: Duration { max(.milliseconds(100), left / 2) }

  private var left: Duration {
    deadline.map { .microseconds(max(0, $0 - EventLoop.bootMicroseconds())) } ?? FingerprintReader.longest
  }

  /// Writes into a task's end whether the path has changed.
  func judge(_ end: inout TaskEnd, after: PathLook) {
    switch (before ?? .unknown("nobody knows how it was before"), after) {
    case (.seen(let before), .seen(let after)): end.changed = before != after
    case (.unknown(let reason), _), (_, .unknown(let reason)): leaveOpen(&end, reason)
    }
  }

  /// Writes into a task's end that the change of the path is unknown.
  func leaveOpen(_ end: inout TaskEnd, _ reason: String) {
    end.changed = nil
    if end.exit == .exited(0) { end.message = "cannot tell whether \(path) changed: \(reason)" }
  }
}

extension NewData {
  /// The path to look at before and after the task, if it judges the task.
  var path: String? {
    if case .changed(let path) = self { path } else { nil }
  }
}
