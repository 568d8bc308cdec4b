import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Adds the methods that set, switch, pause and erase apps.
  func serveSwitches(_ interface: inout Interface) {
    interface.serve(ManagerInterface.Set.self, forPeople { self.set($0) })
    interface.serve(ManagerInterface.Reset.self, forPeople { self.reset($0) })
    interface.serve(ManagerInterface.Disable.self, forPeople { self.disable($0) })
    interface.serve(ManagerInterface.Enable.self, forPeople { self.enable($0) })
    interface.serve(ManagerInterface.Pause.self, forPeople { self.pause($0) })
    interface.serve(ManagerInterface.Resume.self, forPeople { self.resume($0) })
    interface.serve(ManagerInterface.Erase.self, forPeople { self.erase($0) })
  }

  /// Overrides the intervals of apps: of all named apps, or none.
  func set(_ call: Call<ManagerInterface.Set.Parameters>) {
    guard let apps = refreshedApps(named: call.parameters.apps, for: call) else { return }
    let foreground: Interval?
    let background: BackgroundInterval?
    do throws(ManagerInterface.InvalidInterval) {
      let limits = core.engine.limits
      foreground = try read(call.parameters.foregroundInterval) { (text) throws(Unreadable) in
        try Interval(text, floor: limits.foregroundFloor)
      }
      background = try read(call.parameters.backgroundInterval) { (text) throws(Unreadable) in
        try BackgroundInterval(text, floor: limits.backgroundFloor)
      }
    } catch {
      return call.fail(error)
    }
    override(apps, for: call) { overrides in
      overrides.foregroundInterval = foreground ?? overrides.foregroundInterval
      overrides.backgroundInterval = background ?? overrides.backgroundInterval
    } reply: {
      ManagerInterface.Set.Reply(apps: $0)
    }
  }

  /// Changes overrides, and answers when they are on the disk.
  func override<Parameters>(
    _ apps: [AppConfiguration], for call: Call<Parameters>, change: (inout Overrides) -> Void,
    reply: @escaping ([Wire.Intervals]) -> some JSONWritable
  ) {
    var changes: [Event] = []
    for app in apps {
      var after = core.engine.state(of: app.id)?.overrides ?? Overrides()
      change(&after)
      changes.append(.overridden(app.id, after))
    }
    self.change(changes, for: call) { reply(apps.map(self.intervals)) }
  }

  private func read<Value>(
    _ text: String?, _ reading: (String) throws(Unreadable) -> Value
  ) throws(ManagerInterface.InvalidInterval) -> Value? {
    guard let text else { return nil }
    do throws(Unreadable) {
      return try reading(text)
    } catch {
      throw ManagerInterface.InvalidInterval(text: text, problem: error.description)
    }
  }

  /// Resets apps to the intervals of their files, and keeps what is learnt: all named apps, or none.
  func reset(_ call: Call<ManagerInterface.Reset.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    override(apps, for: call) {
      $0 = Overrides()
    } reply: {
      ManagerInterface.Reset.Reply(apps: $0)
    }
  }

  /// Disables apps: all named apps, or none.
  func disable(_ call: Call<ManagerInterface.Disable.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    change(apps.map { .disabled($0.id, true) }, of: apps, for: call) {
      for app in apps where self.core.engine.state(of: app.id)?.isDisabled == true {
        self.audience.runCalls.giveUp(app.id, .disabled)
      }
    } reply: {
      ManagerInterface.Disable.Reply(apps: $0)
    }
  }

  /// Enables apps: all named apps, or none.
  func enable(_ call: Call<ManagerInterface.Enable.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    change(apps.map { .disabled($0.id, false) }, of: apps, for: call) { ManagerInterface.Enable.Reply(apps: $0) }
  }

  /// Pauses all apps for a time, until mains power or until `Resume`.
  func pause(_ call: Call<ManagerInterface.Pause.Parameters>) {
    guard mayAll(call) else { return }
    let pause: Pause
    switch (call.parameters.untilMicroseconds, call.parameters.untilAC ?? false) {
    case (nil, false): pause = .untilResumed
    case (nil, true): pause = .untilAC
    case (let microseconds?, false):
      guard let until = instant(ofWallMicroseconds: microseconds) else {
        return call.fail(InvalidParameter(parameter: "until_us"))
      }
      pause = .until(until)
    case (_?, true): return call.fail(InvalidParameter(parameter: "until_ac"))
    }
    change([.paused(pause)], for: call) {
      ManagerInterface.Pause.Reply(pause: self.core.engine.wirePause)
    }
  }

  /// Ends the pause of all apps, if there is one.
  func resume(_ call: Call<ManagerInterface.Resume.Parameters>) {
    guard mayAll(call) else { return }
    change([.paused(nil)], for: call) { ManagerInterface.Resume.Reply() }
  }

  /// Forgets everything about an app that is out of the configuration.
  ///
  /// No file names the app's owner any more, so only a caller who may ask about every app may do this.
  func erase(_ call: Call<ManagerInterface.Erase.Parameters>) {
    guard core.access.mayAll(call.peer) else {
      return call.fail(RefreshdInterface.NotAllowed(app: call.parameters.app, remedy: core.access.remedy))
    }
    guard let app = AppID(call.parameters.app), core.engine.state(of: app)?.seenAt != nil else {
      return call.fail(RefreshdInterface.NoSuchApp(app: call.parameters.app))
    }
    guard core.engine.mayErase(app) else {
      let remedy =
        core.configuration[app].map { "remove \($0.file), then refreshctl reload" }
        ?? (core.engine.state(of: app)?.running == nil ? "cancel its transfers" : "wait until its refresh has ended")
      return call.fail(ManagerInterface.InUse(app: app.description, remedy: remedy))
    }
    change([.erased(app)], for: call) {
      // The disk has forgotten its transfers too.
      self.core.handle(.erased(app))
      return ManagerInterface.Erase.Reply()
    }
  }
}
