import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Adds the methods that start, schedule, skip and end refreshes.
  func serveRuns(_ interface: inout Interface) {
    interface.serve(ManagerInterface.Run.self, forPeople { self.run($0) })
    interface.serve(ManagerInterface.Schedule.self, forPeople { self.schedule($0) })
    interface.serve(ManagerInterface.Skip.self, forPeople { self.skip($0) })
    interface.serve(ManagerInterface.Expire.self, forPeople { self.expire($0) })
  }

  /// Refreshes an app now, or once more after the running refresh, and reports each step.
  func run(_ call: Call<ManagerInterface.Run.Parameters>) {
    guard let app = refreshedApp(named: call.parameters.app, for: call) else { return }
    // A sync by the app itself starts nothing.
    guard call.parameters.trigger != .reported else { return call.fail(InvalidParameter(parameter: "trigger")) }
    if let payload = call.parameters.payload {
      guard call.parameters.trigger == .push else { return call.fail(InvalidParameter(parameter: "payload")) }
      do throws(AppInterface.InvalidPayload) { _ = try PushPayload(payload) } catch { return call.fail(error) }
    }
    let holds = core.engine.lastingHolds(on: app.id)
    guard holds.isEmpty else {
      return call.fail(ManagerInterface.Held(app: app.id.description, holds: core.engine.wire(holds, of: app.id)))
    }
    let isForced = call.parameters.anyway == true
    guard !isForced || call.parameters.trigger == nil else { return call.fail(InvalidParameter(parameter: "trigger")) }
    var before: RefreshID?
    if case .refreshing(let refresh) = core.engine.verdict(on: app.id, at: core.now) {
      before = refresh
      if call.wantsMore {
        call.reply(
          ManagerInterface.Run.Reply(event: .init(kind: .queued, id: refresh.description)), continues: true)
      }
    }
    audience.runCalls.wait(call, for: app.id, after: before)
    core.handle(isForced ? .forced(app.id) : .requested(app.id, call.parameters.trigger.map(Trigger.init) ?? .manual))
    if before == nil, call.wantsMore, case .held(let holds, _) = core.engine.verdict(on: app.id, at: core.now) {
      call.reply(
        ManagerInterface.Run.Reply(event: .init(kind: .held, holds: core.engine.wire(holds, of: app.id))),
        continues: true)
    }
  }

  /// Schedules one refresh of an app at a later time.
  func schedule(_ call: Call<ManagerInterface.Schedule.Parameters>) {
    guard let app = refreshedApp(named: call.parameters.app, for: call) else { return }
    let holds = core.engine.lastingHolds(on: app.id)
    guard holds.isEmpty else {
      return call.fail(ManagerInterface.Held(app: app.id.description, holds: core.engine.wire(holds, of: app.id)))
    }
    guard let earliest = instant(ofWallMicroseconds: call.parameters.earliestMicroseconds) else {
      return call.fail(InvalidParameter(parameter: "earliest_us"))
    }
    guard (call.parameters.reason ?? "").utf8.count <= OneShot.longestReason else {
      return call.fail(InvalidParameter(parameter: "reason"))
    }
    let oneShot = OneShot(earliest: earliest, reason: call.parameters.reason ?? "")
    change([.scheduled(app.id, oneShot)], for: call) {
      ManagerInterface.Schedule.Reply(oneShot: Wire.OneShot(oneShot, wallOffset: self.core.engine.wallOffset))
    }
  }

  /// Skips the next refresh by time of each app, or all of them until a time: for all named apps, or none.
  func skip(_ call: Call<ManagerInterface.Skip.Parameters>) {
    guard let apps = refreshedApps(named: call.parameters.apps, for: call) else { return }
    let before = apps.map { self.core.engine.state(of: $0.id)?.skippedUntil }
    let until: Instant?
    switch call.parameters.untilMicroseconds {
    case nil: until = nil
    case let microseconds?:
      guard let instant = instant(ofWallMicroseconds: microseconds) else {
        return call.fail(InvalidParameter(parameter: "until_us"))
      }
      until = instant
    }
    let events = apps.map { app in until.map { Event.skippedAll(app.id, until: $0) } ?? .skipped(app.id) }
    var unchanged: [String] = []
    change(events, of: apps, for: call) {
      unchanged = zip(apps, before).filter { self.core.engine.state(of: $0.id)?.skippedUntil == $1 }
        .map { $0.0.id.description }
    } reply: {
      ManagerInterface.Skip.Reply(apps: $0, unchanged: unchanged)
    }
  }

  /// Ends a running refresh as its deadline would.
  func expire(_ call: Call<ManagerInterface.Expire.Parameters>) {
    // The refresh of another user's app is none for the caller.
    guard let id = RefreshID(call.parameters.refresh), let app = runner.refreshes[id]?.app,
      core.may(call.peer, about: app.id)
    else { return call.fail(ManagerInterface.NoSuchRefresh(refresh: call.parameters.refresh)) }
    ports.journal.expired(id, of: app.id, by: call.peer.uid)
    let before = core.engine.deadline(of: id)
    core.handle(.expired(id))
    // The deadline is only brought forward for a warning; else the refresh is asked to end now.
    let after = core.engine.deadline(of: id)
    let end = after == before ? core.now : after ?? core.now
    call.reply(ManagerInterface.Expire.Reply(app: app.id.description, deadlineMicroseconds: core.wall(end)))
  }
}
