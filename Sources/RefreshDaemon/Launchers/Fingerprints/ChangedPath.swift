import RefreshEngine
import Systemd

/// The path by which a task's data is judged, from the look before the start to the look after the end.
struct ChangedPath {
  let path: String
  /// The answer of the look before the start; nil before it, and for a task of a previous daemon that did not know.
  var before: PathLook?
  /// When the refresh is asked to end, boot clock, in microseconds; nil for a task of a previous daemon.
  var deadline: Int64?

  init(_ path: String, timeLimit: Duration?) {
    self.path = path
    deadline = timeLimit.map { EventLoop.bootMicroseconds() + $0.inMicroseconds }
  }

  /// How long the look before the start may take: a quarter of the time that the task has.
  var boundBefore: Duration { left / 4 }

  /// How long the look after the end may take: it must not push a task that has ended over its deadline.
  var boundAfter: Duration { max(.milliseconds(100), left / 2) }

  private var left: Duration {
    deadline.map { .microseconds(max(0, $0 - EventLoop.bootMicroseconds())) } ?? FingerprintReader.longest
  }

  /// Puts into a task's end whether the path has changed.
  func judge(_ end: inout TaskEnd, after: PathLook) {
    switch (before ?? .unknown("nobody knows how it was before"), after) {
    case (.seen(let before), .seen(let after)): end.changed = before != after
    case (.unknown(let reason), _), (_, .unknown(let reason)): leaveOpen(&end, reason)
    }
  }

  /// Puts into a task's end that nobody knows whether the path has changed.
  func leaveOpen(_ end: inout TaskEnd, _ reason: String) {
    end.changed = nil
    if end.exit == .exited(0) { end.message = "cannot tell whether \(path) changed: \(reason)" }
  }
}

extension NewData {
  /// The path to look at before and after the task, if the task is judged by one.
  var path: String? {
    if case .changed(let path) = self { path } else { nil }
  }
}
