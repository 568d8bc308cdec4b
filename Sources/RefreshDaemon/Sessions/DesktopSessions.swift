import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

/// The desktop sessions that report, and the presence of apps in all sessions of a user together.
///
/// An app is in front if any session of its owner shows it there, and runs if any session reports that it runs.
final class DesktopSessions {
  typealias FollowCall = Call<SessionInterface.Follow.Parameters>
  typealias ReportCall = Call<SessionInterface.Report.Parameters>

  /// The bounds: the apps of a list, the bytes of a remedy, and the sessions of a user.
  private static let (mostApps, longestRemedy, mostSessions) = (1000, 256, 16)

  /// A session of a user, for as long as its call of Follow lasts.
  private struct Session {
    let call: FollowCall
    /// Its last report; nil before the first.
    var told: ReportCall.Told?
  }

  private struct FollowedList {
    let apps: [Wire.FollowedApp]
    let ids: [AppID]
  }

  private unowned let core: DaemonCore
  private let audience: Audience
  private var sessions: [Int: Session] = [:]
  private var last = 0
  /// The apps that each user's sessions watch for, with the engine's ids.
  private var followed: [UInt32: FollowedList] = [:]

  init(_ core: DaemonCore, _ audience: Audience) { (self.core, self.audience) = (core, audience) }

  /// Tells a session which apps of its user to watch for, now and after each reload, until its connection ends.
  ///
  /// Answers the call and returns false if the user has too many sessions.
  func follow(_ call: FollowCall) -> Bool {
    guard numbers(of: call.peer.uid).count < Self.mostSessions else {
      call.fail(RefreshdInterface.TooManyWatches(limit: Self.mostSessions, remedy: "End another refresh-session."))
      return false
    }
    last += 1
    let number = last
    sessions[number] = Session(call: call)
    call.onDisconnect("desktop \(number)") {
      self.sessions[number] = nil
      self.tellEngine(of: call.peer.uid)
    }
    let wanted = followed[call.peer.uid] ?? wanted(of: call.peer.uid)
    followed[call.peer.uid] = wanted
    send(wanted.apps, to: number)
    return true
  }

  /// Takes a session's report in place of its earlier report.
  func report(_ call: ReportCall) {
    let parameters = call.parameters
    guard let session = sessions[parameters.follower], session.call.peer.uid == call.peer.uid else {
      return call.fail(SessionInterface.NoSuchFollower(follower: parameters.follower))
    }
    guard (parameters.remedy?.utf8.count ?? 0) <= Self.longestRemedy else {
      return call.fail(InvalidParameter(parameter: "remedy"))
    }
    let ids = Set(followed[call.peer.uid]?.ids ?? [])
    sessions[parameters.follower]?.told = ReportCall.Told(parameters, of: ids)
    tellEngine(of: call.peer.uid)
    call.reply(SessionInterface.Report.Reply())
  }

  /// Tells the sessions which apps to watch for under a new configuration.
  func reconfigured() {
    for (uid, before) in followed.sorted(by: { $0.key < $1.key }) {
      let wanted = wanted(of: uid)
      guard wanted.apps != before.apps else { continue }
      followed[uid] = wanted
      for number in numbers(of: uid) { send(wanted.apps, to: number) }
      for app in Set(before.ids).subtracting(wanted.ids).sorted() { show(app, .unknown) }
      tellEngine(of: uid)
    }
  }

  /// The sessions of a user, or of all users for nil, for the status; without sessions that have reported nothing.
  func states(of uid: UInt32?) -> [Wire.DesktopSession] {
    sessions.sorted { $0.key < $1.key }.compactMap { _, session in
      let user = session.call.peer.uid
      guard let told = session.told, uid == nil || user == uid else { return nil }
      return Wire.DesktopSession(
        uid: Int(user), windows: told.windows, remedy: told.remedy, isWatched: told.isWatched,
        apps: followed[user]?.ids.count ?? 0, running: told.apps.keys.sorted().map(\.description),
        front: told.apps.filter(\.value).keys.sorted().map(\.description))
    }
  }

  /// Whether a user has a session.
  func hasOne(of user: UInt32) -> Bool { !numbers(of: user).isEmpty }

  /// Has a session of a user show a notice, preferably a watched session; false without a session.
  func show(_ notice: Wire.DesktopNotice, to user: UInt32) -> Bool {
    let own = numbers(of: user)
    guard let number = own.last(where: { sessions[$0]?.told?.isWatched == true }) ?? own.last else { return false }
    sessions[number]?.call.reply(SessionInterface.Follow.Reply(follower: number, notice: notice), continues: true)
    return true
  }

  // MARK: - All sessions of a user

  private func numbers(of uid: UInt32) -> [Int] {
    sessions.filter { $1.call.peer.uid == uid }.keys.sorted()
  }

  private func send(_ apps: [Wire.FollowedApp], to number: Int) {
    sessions[number]?.call.reply(SessionInterface.Follow.Reply(follower: number, apps: apps), continues: true)
  }

  /// The apps of a user that follow desktops; of too many, apps whose files name desktop ids come first.
  private func wanted(of uid: UInt32) -> FollowedList {
    var apps = core.configuration.apps.filter { $0.owner.uid == uid && $0.followsDesktops }
    if apps.count > Self.mostApps {
      let named = apps.filter { !$0.desktop.ids.isEmpty } + apps.filter(\.desktop.ids.isEmpty)
      apps = named.prefix(Self.mostApps).sorted { $0.id < $1.id }
    }
    return FollowedList(apps: apps.map(Wire.FollowedApp.init), ids: apps.map(\.id))
  }

  /// Tells the engine the presence of a user's apps in all sessions together.
  private func tellEngine(of uid: UInt32) {
    let told = sessions.values.filter { $0.call.peer.uid == uid }.compactMap(\.told)
    for app in followed[uid]?.ids ?? [] { show(app, Presence(of: app, in: told)) }
    if numbers(of: uid).isEmpty { followed[uid] = nil }
  }

  private func show(_ app: AppID, _ presence: Presence) {
    guard let before = core.engine.presence(of: app), before != presence else { return }
    core.handle(.shown(app, presence))
  }
}

extension Call<SessionInterface.Report.Parameters> {
  /// A report of a session.
  fileprivate struct Told {
    let windows: Wire.WindowSource
    let remedy: String?
    let isWatched: Bool
    /// The running apps, and whether each is in front.
    let apps: [AppID: Bool]

    /// Keeps the report about followed apps, and drops the rest.
    init(_ parameters: SessionInterface.Report.Parameters, of followed: Set<AppID>) {
      (windows, remedy, isWatched) = (parameters.windows, parameters.remedy, parameters.isWatched)
      var apps: [AppID: Bool] = [:]
      for app in parameters.apps {
        guard let id = AppID(app.app), followed.contains(id) else { continue }
        apps[id] = (app.isFront && parameters.isWatched) || apps[id] == true
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
  /// Whether desktops report the app's phase.
  fileprivate var followsDesktops: Bool { desktop.lifecycle == .desktop && policy.unusable == nil }
}

extension Wire.FollowedApp {
  fileprivate init(_ app: AppConfiguration) {
    let ids = app.desktop.ids.isEmpty ? [app.id.description] : app.desktop.ids
    self.init(app: app.id.description, desktop: ids, front: Wire.Front(app.desktop.front))
  }
}
