import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Lists the refreshes of an app that have ended, newest first.
  func history(_ call: Call<ManagerInterface.History.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    if let limit = call.parameters.limit, limit < 1 { return call.fail(InvalidParameter(parameter: "limit")) }
    let limit = call.parameters.limit ?? .max
    readPast(of: app.id, limit: limit, for: call) { past in
      // Leaves out pushes that were dropped before the oldest listed refresh.
      let oldest = past.refreshes.count < limit ? nil : past.refreshes.last?.startedWallMicroseconds
      let shown = past.dropped.filter { push in oldest.map { push.droppedWallMicroseconds >= $0 } ?? true }
      call.reply(
        ManagerInterface.History.Reply(
          refreshes: past.refreshes.map { Wire.Refresh($0, of: app.id, for: Viewer(call.peer)) },
          pushesDropped: shown.map(Wire.DroppedPush.init)))
    }
  }

  /// Reads an app's past from the store; answers the call if that fails.
  func readPast<Parameters>(
    of app: AppID, limit: Int, for call: Call<Parameters>, then answer: @escaping (AppPast) -> Void
  ) {
    saving.reads.past(of: app, limit: limit) { self.answer(call, $0, answer) }
  }

  /// Answers a call with the value that was read, or with the error.
  func answer<Parameters, Value>(
    _ call: Call<Parameters>, _ result: Result<Value, StoreError>, _ answer: (Value) -> Void
  ) {
    switch result {
    case .success(let value): answer(value)
    case .failure(let problem):
      saving.readFailed(problem)
      call.fail(ManagerInterface.NotReadable(problem: problem.description))
    }
  }

  /// Lists the times at which the user opened an app, newest first.
  func openings(_ call: Call<ManagerInterface.Openings.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    saving.reads.openings(of: app.id) { result in
      self.answer(call, result) { openings in
        call.reply(
          ManagerInterface.Openings.Reply(
            openingsMicroseconds: openings.map(\.wallMicroseconds), spans: openings.map(Wire.OpeningSpan.init)))
      }
    }
  }

  /// Lists the refreshes and waits of an app since a moment, as far as the history goes back.
  func timeline(_ call: Call<ManagerInterface.Timeline.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let since = call.parameters.sinceMicroseconds
    readPast(of: app.id, limit: .max, for: call) { past in
      let now = self.view(of: app)
      let waiting = now.state.waiting.map { Wire.Waiting($0, wallOffset: self.core.engine.wallOffset) }
      call.reply(
        ManagerInterface.Timeline.Reply(
          past: past.wire(of: app.id, for: Viewer(call.peer)).filter { $0.endMicroseconds >= since }, waiting: waiting,
          running: now.running))
    }
  }
}

extension AppPast {
  /// Refreshes and waits, newest first, `limit` at most.
  func wire(of app: AppID, limit: Int = .max, for viewer: Viewer) -> [Wire.Past] {
    let all =
      refreshes.map { ($0.startedWallMicroseconds, Wire.Past(refresh: Wire.Refresh($0, of: app, for: viewer))) }
      + waits.map { ($0.sinceWallMicroseconds, Wire.Past(wait: Wire.Wait($0))) }
    return all.sorted { $0.0 > $1.0 }.prefix(limit).map(\.1)
  }
}

extension Wire.Past {
  fileprivate var endMicroseconds: Int64 {
    refresh.map { $0.startedMicroseconds + $0.durationMicroseconds } ?? wait?.untilMicroseconds ?? 0
  }
}

extension Wire.OpeningSpan {
  fileprivate init(_ opening: StoredOpening) {
    self.init(
      sinceMicroseconds: opening.wallMicroseconds, untilMicroseconds: opening.endWallMicroseconds,
      isObserved: opening.isObserved)
  }
}
