import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

/// The sessions that tell what their desktops show, and what all sessions of a user show together.
///
/// An app is in front if any session of its owner shows it so, and runs if any session says that it runs.
final class DesktopSessions {
  typealias FollowCall = Call<SessionInterface.Follow.Parameters>
  typealias ReportCall = Call<SessionInterface.Report.Parameters>

  /// The bounds of a list of apps, of a remedy in bytes, and of the sessions of a user.
  private static let (mostApps, longestRemedy, mostSessions) = (1000, 256, 16)

  /// A session, from its call of Follow to the end of that.
  private struct Session {
    let call: FollowCall
    /// Its last report; nil before the first.
    var told: ReportCall.Told?
  }

  private unowned let core: DaemonCore
  private let audience: Audience
  private var sessions: [Int: Session] = [:]
  private var last = 0
  /// The apps that the sessions of each user were told to look out for.
  private var followed: [UInt32: [Wire.FollowedApp]] = [:]

  init(_ core: DaemonCore, _ audience: Audience) { (self.core, self.audience) = (core, audience) }

  /// Tells a session which apps of its user to look out for, now and after each reload, until its connection ends.
  func follow(_ call: FollowCall) {
    guard numbers(of: call.peer.uid).count < Self.mostSessions else {
      return call.fail(
        RefreshdInterface.TooManyWatches(limit: Self.mostSessions, remedy: "End another refresh-session."))
    }
    last += 1
    let number = last
    sessions[number] = Session(call: call)
    call.onDisconnect("desktop \(number)") {
      self.sessions[number] = nil
      self.settle(call.peer.uid)
    }
    let apps = followed[call.peer.uid] ?? apps(of: call.peer.uid)
    followed[call.peer.uid] = apps
    send(apps, to: number)
  }

  /// Takes what a session shows in place of what it told before.
  func report(_ call: ReportCall) {
    let parameters = call.parameters
    guard let session = sessions[parameters.follower], session.call.peer.uid == call.peer.uid else {
      return call.fail(SessionInterface.NoSuchFollower(follower: parameters.follower))
    }
    guard (parameters.remedy?.utf8.count ?? 0) <= Self.longestRemedy else {
      return call.fail(InvalidParameter(parameter: "remedy"))
    }
    sessions[parameters.follower]?.told = ReportCall.Told(parameters)
    settle(call.peer.uid)
    call.reply(SessionInterface.Report.Reply())
  }

  /// Tells the sessions which apps to look out for under a new configuration.
  func reconfigured() {
    for uid in followed.keys.sorted() {
      let before = followed[uid] ?? []
      let apps = apps(of: uid)
      guard apps != before else { continue }
      followed[uid] = apps
      for number in numbers(of: uid) { send(apps, to: number) }
      let names = Set(apps.map(\.app))
      for app in before where !names.contains(app.app) { AppID(app.app).map { show($0, .unknown) } }
      settle(uid)
    }
  }

  /// The sessions of a user, or of all users for nil, as status shows them; those that have told nothing are left out.
  func states(of uid: UInt32?) -> [Wire.DesktopSession] {
    sessions.sorted { $0.key < $1.key }.compactMap { _, session in
      let user = session.call.peer.uid
      guard let told = session.told, uid == nil || user == uid else { return nil }
      return Wire.DesktopSession(
        uid: Int(user), windows: told.windows, remedy: told.remedy, isWatched: told.isWatched,
        apps: followed[user]?.count ?? 0, running: told.apps.keys.sorted().map(\.description),
        front: told.apps.filter(\.value).keys.sorted().map(\.description))
    }
  }

  // MARK: - All sessions of a user

  private func numbers(of uid: UInt32) -> [Int] {
    sessions.filter { $1.call.peer.uid == uid }.keys.sorted()
  }

  private func send(_ apps: [Wire.FollowedApp], to number: Int) {
    sessions[number]?.call.reply(SessionInterface.Follow.Reply(follower: number, apps: apps), continues: true)
  }

  /// The apps of a user that follow desktops; where there are too many, those whose files name desktop ids come first.
  private func apps(of uid: UInt32) -> [Wire.FollowedApp] {
    let apps = core.configuration.apps.filter { $0.owner.uid == uid && $0.followsDesktops }
    guard apps.count > Self.mostApps else { return apps.map(Wire.FollowedApp.init) }
    let named = apps.filter { !$0.desktop.ids.isEmpty } + apps.filter(\.desktop.ids.isEmpty)
    return named.prefix(Self.mostApps).sorted { $0.id < $1.id }.map(Wire.FollowedApp.init)
  }

  /// Tells the engine what the sessions of a user show together.
  private func settle(_ uid: UInt32) {
    let told = sessions.values.filter { $0.call.peer.uid == uid }.compactMap(\.told)
    for app in followed[uid] ?? [] { AppID(app.app).map { show($0, Presence(of: $0, in: told)) } }
    if numbers(of: uid).isEmpty { followed[uid] = nil }
  }

  private func show(_ app: AppID, _ presence: Presence) {
    guard let before = core.engine.presence(of: app), before != presence else { return }
    audience.changePhase(of: app) { core.handle(.shown(app, presence)) }
  }
}

extension Call<SessionInterface.Report.Parameters> {
  /// A report of a session.
  fileprivate struct Told {
    let windows: Wire.WindowSource
    let remedy: String?
    let isWatched: Bool
    /// The apps that run, and whether each is in front.
    let apps: [AppID: Bool]

    init(_ parameters: SessionInterface.Report.Parameters) {
      (windows, remedy, isWatched) = (parameters.windows, parameters.remedy, parameters.isWatched)
      var apps: [AppID: Bool] = [:]
      for app in parameters.apps {
        if let id = AppID(app.app) { apps[id] = (app.isFront && parameters.isWatched) || apps[id] == true }
      }
      self.apps = apps
    }
  }
}

extension Presence {
  /// The presence of an app in several reports together.
  fileprivate init(of app: AppID, in told: [Call<SessionInterface.Report.Parameters>.Told]) {
    self = told.map { $0.apps[app].map { $0 ? .front : .running } ?? .ended }.max() ?? .unknown
  }
}

extension AppConfiguration {
  /// Whether the desktops of the owner say where the app is.
  fileprivate var followsDesktops: Bool { desktop.lifecycle == .desktop && policy.unusable == nil }
}

extension Wire.FollowedApp {
  fileprivate init(_ app: AppConfiguration) {
    let ids = app.desktop.ids.isEmpty ? [app.id.description] : app.desktop.ids
    self.init(app: app.id.description, desktop: ids, front: Wire.Front(app.desktop.front))
  }
}
