import RefreshConfig
import RefreshEngine
import Systemd

/// The configuration in force, and the mistakes of a configuration that was refused.
struct ConfigurationInForce {
  /// The limits of all apps together.
  let limits: Limits
  /// The apps, in the order of their ids.
  private(set) var apps: [AppConfiguration]
  /// The launcher that the daemon uses from its next start on.
  let launcher: LauncherChoice
  /// The settings of all transfers together.
  let transfers: TransferSettings
  /// Whether `push.toml` names sources, so that a push bridge should be there.
  let namesPushSources: Bool
  /// When it came into force, in microseconds of the wall clock.
  let sinceMicroseconds: Int64
  /// The mistakes in the files of held apps.
  private(set) var held: [Problem] = []
  /// The mistakes for which the last reload was refused; empty if it was not.
  var refused: [Problem] = []

  /// Makes the configuration of a daemon that has not opened yet: no apps and default limits.
  init() {
    (limits, apps, launcher) = (Limits(), [], .auto)
    (transfers, namesPushSources, sinceMicroseconds) = (TransferSettings(), false, 0)
  }

  init(_ configuration: Configuration, at moment: Moment) {
    var limits = configuration.limits
    limits.maxConcurrent = limits.maxConcurrent ?? Machine.processors
    limits.followsSessions = configuration.sessions == .logind
    self.limits = limits
    apps = configuration.apps
    held = configuration.held
    launcher = configuration.launcher
    transfers = configuration.transfers
    namesPushSources = configuration.namesPushSources
    sinceMicroseconds = moment.instant.wallMicroseconds(at: moment.wallOffset)
  }

  /// The app of an id, by binary search: a dictionary would take as much memory again.
  subscript(id: AppID) -> AppConfiguration? {
    let index = apps.partitioningIndex { $0.id >= id }
    return index < apps.count && apps[index].id == id ? apps[index] : nil
  }

  /// The mistakes that a reload must answer with.
  ///
  /// Mistakes in files of apps that are already held do not count, unless the reload would also hold a working app: then
  /// all count.
  func newMistakes(in newer: Configuration) -> [Problem] {
    let breaks = newer.apps.contains { app in
      app.policy.unusable != nil && (self[app.id].map { $0.policy.unusable == nil } ?? false)
    }
    if breaks { return newer.held }
    let files = Set(held.map(\.file)).union(apps.lazy.filter { $0.policy.unusable != nil }.map(\.file))
    return newer.held.filter { !files.contains($0.file) }
  }

  /// A newer reading, plus the apps held here whose files still do not name their app.
  func keepingHeld(in newer: Configuration) -> Configuration {
    let read = Set(newer.apps.lazy.filter { $0.policy.unusable == nil }.map(\.file))
    let files = Set(newer.unnamed.map(\.path))
    return newer.keeping(
      apps.filter { $0.policy.unusable != nil && (files.contains($0.file) || read.contains($0.file)) }.map(\.id))
  }

  /// This configuration with the newer reading of the files that have mistakes here; nil if nothing changed.
  ///
  /// Other files wait for a reload. An app whose file is gone stays held, because the file may come back.
  func withHeldFiles(of newer: Configuration) -> ConfigurationInForce? {
    let files = Set(held.map(\.file))
    var next = self
    let found = Set(newer.held.map(\.file)).union(newer.apps.map(\.file))
    let gone = Set(apps.filter { $0.policy.unusable != nil }.map(\.file)).subtracting(found)
    next.held = newer.held.filter { files.contains($0.file) } + held.filter { gone.contains($0.file) }
    let read = newer.apps.filter { app in
      self[app.id].map { $0.policy.unusable != nil } ?? files.contains(app.file)
    }
    let ids = Set(read.map(\.id))
    // A readable file may turn out to belong to another app; then the held app may have another file.
    let readable = Set(newer.apps.lazy.filter { $0.policy.unusable == nil }.map(\.file))
    let others = apps.filter { !ids.contains($0.id) }
    let doubtful = others.filter { $0.policy.unusable != nil && readable.contains($0.file) }.map(\.id)
    let kept = others.filter { !doubtful.contains($0.id) }
    let stillHeld = newer.keeping(doubtful).apps.filter { doubtful.contains($0.id) }
    next.apps = (kept + stillHeld + read).sorted { $0.id < $1.id }
    return next.apps == apps && next.held == held ? nil : next
  }

  /// This configuration, with unchanged apps in the memory of the earlier configuration.
  ///
  /// A new reading lies between unneeded blocks of memory, and would keep them from being given back. Texts that are not
  /// ASCII may be equal in Swift and name different files, so their new values count.
  func keepingMemory(of before: ConfigurationInForce) -> ConfigurationInForce {
    var next = self
    next.apps = apps.map { app in before[app.id].flatMap { $0 == app && app.isASCII ? $0 : nil } ?? app }
    return next
  }

  /// The event that puts the configuration in force in the engine.
  var event: Event {
    .configured(limits, Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0.policy) }))
  }
}

/// Reads the files of held apps again: a home may be mounted by now, or a user known.
///
/// No event announces such a change, so the disk is read, ever less often. No timer runs while no app is held.
final class HeldApps {
  /// The wait for the next look: 5 s after the start, doubled up to 5 min.
  private static let looks = BackOff(first: .seconds(5), longest: .minutes(5), mostFailures: 7)

  private unowned let core: DaemonCore
  private let files: ConfigurationReads
  private var timer: (any WakeTimer)?
  private var looked: Int32 = 1
  /// Counts configurations, so that an answer about an earlier configuration is dropped.
  private var configurations = 0

  init(_ core: DaemonCore, _ files: ConfigurationReads) { (self.core, self.files) = (core, files) }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in look() }
  }

  /// Restarts the looks after a configuration has come into force.
  func reconfigured() {
    (configurations, looked) = (configurations + 1, 1)
    arm()
  }

  private func arm() {
    if core.configuration.held.isEmpty {
      timer?.disarm()
    } else {
      core.scheduler.arm(timer, after: Self.looks.wait(after: looked), accuracy: 1_000_000)
    }
  }

  private func look() {
    guard !core.engine.isStopping else { return }
    let asked = configurations
    files.read { [self] result in
      guard asked == configurations, !core.engine.isStopping else { return }
      if case .success(let newer) = result, let next = core.configuration.withHeldFiles(of: newer) {
        core.delegate.replace(by: next)
        core.delegate.statusChanged()
      } else {
        looked = Self.looks.counting(looked)
        arm()
      }
    }
  }
}
