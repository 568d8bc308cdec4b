import RefreshAPI
import RefreshEngine
import Varlink

/// The `Run` calls that wait for a refresh to start.
final class RunCalls {
  typealias RunCall = Call<ManagerInterface.Run.Parameters>

  private struct WaitingCall {
    let call: RunCall
    /// The refresh that was running already when the call came.
    let before: RefreshID?

    var hasPayload: Bool { call.parameters.payload != nil }
  }

  private unowned let core: DaemonCore
  private var waiting: [AppID: [WaitingCall]] = [:]

  init(_ core: DaemonCore) { self.core = core }

  /// Has a call wait for the next refresh of an app, the one after `before` if that is running.
  ///
  /// It waits for as long as its caller does: one that is gone, or wants no answer, is not kept.
  func wait(_ call: RunCall, for app: AppID, after before: RefreshID?) {
    guard !call.isOver, !call.isOneway else { return }
    call.onDisconnect("run") { self.drop(call.connection, app) }
    waiting[app, default: []].append(WaitingCall(call: call, before: before))
    core.handle(.awaited(app, true))
  }

  /// Gives the calls that a refresh answers, and forgets them.
  ///
  /// A call that came while the refresh was being saved waits for the next one, and so does one with a payload if the
  /// refresh has that of another call.
  func claim(by refresh: RefreshID, of app: AppID) -> [RunCall] {
    var claimed: [RunCall] = []
    for waiting in end(app) {
      let isSecond = waiting.hasPayload && claimed.contains { $0.parameters.payload != nil }
      guard waiting.before == refresh || isSecond else {
        claimed.append(waiting.call)
        continue
      }
      wait(waiting.call, for: app, after: refresh)
      if isSecond { core.handle(.requested(app, .push)) }
    }
    return claimed
  }

  /// Fails the calls that wait for a refresh of an app that will not start.
  func giveUp(_ id: AppID, _ hold: Hold) {
    let app = id.description
    for waiting in end(id) {
      waiting.call.fail(
        ManagerInterface.Held(app: app, holds: [hold.wire(of: app, wallOffset: core.engine.wallOffset)]))
    }
  }

  func giveUpAll(_ hold: Hold) {
    for app in waiting.keys.sorted() { giveUp(app, hold) }
  }

  /// Fails the calls for apps that have left the configuration, and those of callers who may no longer ask.
  func reconfigured() {
    for (app, calls) in waiting.sorted(by: { $0.key < $1.key }) {
      guard core.configuration[app] != nil else {
        giveUp(app, .notConfigured)
        continue
      }
      for call in calls.map(\.call) where !core.may(call.peer, about: app) {
        call.connection.cancelDisconnectAction("run")
        drop(call.connection, app)
        call.fail(core.access.refusal(of: call.peer, app: app.description))
      }
    }
  }

  private func drop(_ connection: Connection, _ app: AppID) {
    guard let rest = waiting[app]?.filter({ $0.call.connection !== connection }) else { return }
    waiting[app] = rest.isEmpty ? nil : rest
    if rest.isEmpty { core.handle(.awaited(app, false)) }
  }

  /// Gives the calls that wait for an app, which wait no more.
  private func end(_ app: AppID) -> [WaitingCall] {
    guard let calls = waiting.removeValue(forKey: app) else { return [] }
    for waiting in calls { waiting.call.connection.cancelDisconnectAction("run") }
    core.handle(.awaited(app, false))
    return calls
  }
}
