import Glibc
import RefreshConfig
import RefreshEngine
import Varlink

/// The origin of a caller's process: a task, a sandboxed Flatpak, or any other process.
///
/// A task may run in the sandbox of its app's file, and a Flatpak in its own. Over the socket each could make the user's
/// other apps act for it, so it may speak for its own app only. The origin restricts; it never grants a right.
struct CallerOrigin {
  /// Whether the daemon may open files in the root directory of a caller, which is its own user's.
  ///
  /// Another user could give its process a root directory that never answers.
  let readsRoots: Bool
  let launcher: any Launcher

  /// How many cgroups are searched for one caller.
  private static let bound = 512
  /// How many names are read from a folder of units, and from an app's slice.
  private static let (most, mostOfSlice) = (4096, 64)

  /// The confinement of a process of a user; the pidfd is that of the process.
  func confinement(of process: pid_t, _ user: uid_t, pidfd: Int32) -> CallerConfinement {
    // The kernel gives 0 for a process outside of the daemon's pid namespace, so nothing about it can be read.
    guard process > 0 || user == 0 && !readsRoots else { return .fromAll }
    let byCgroup = confinementByCgroup(of: process, user)
    guard readsRoots else {
      // A Flatpak or a container without a known cgroup has a pid namespace of its own.
      return byCgroup == .none && user != 0 && Self.isNested(pidfd) ? .fromAll : byCgroup
    }
    guard let flatpak = FlatpakInformation.confinement(of: process, user) else { return byCgroup }
    // A Flatpak that another app's task has started speaks for neither.
    return byCgroup == .none || byCgroup.subject == flatpak.subject ? flatpak : .fromAll
  }

  /// Whether a process has a pid namespace below the daemon's, or might have one.
  private static func isNested(_ pidfd: Int32) -> Bool {
    let lines = SmallFiles.bytes(of: "/proc/self/fdinfo/\(pidfd)").split(separator: UInt8(ascii: "\n"))
    let start = "NSpid:".utf8
    guard !lines.isEmpty else { return true }
    return lines.first { $0.starts(with: start) }.map { $0.split(separator: UInt8(ascii: "\t")).count > 2 } ?? false
  }

  private func confinementByCgroup(of process: pid_t, _ user: uid_t) -> CallerConfinement {
    errno = 0
    let membership = SmallFiles.bytes(of: "/proc/\(process)/cgroup")
    if let path = Cgroup.path(in: membership) { return confinement(inCgroup: path) }
    // Without a descriptor to read with, nothing is known.
    guard membership.isEmpty, [ENOENT, ESRCH, EACCES].contains(errno) else {
      return membership.isEmpty ? .fromAll : .none
    }
    // The daemon's unit hides other users' processes (ProtectProc=), but not their ids in cgroups.
    let candidates = launcher.cgroups + Self.cgroups(ofManagerOf: user)
    return switch Cgroup.holder(of: process, among: candidates, bound: Self.bound) {
    case .none: .none
    case .cgroup(let path): confinement(inCgroup: path)
    case .unknown: .fromAll
    }
  }

  /// The cgroups of the tasks and of the Flatpaks that a user's own service manager runs.
  private static func cgroups(ofManagerOf user: uid_t) -> [String] {
    let manager = "user.slice/user-\(user).slice/user@\(user).service"
    guard let mount = Cgroup.mounts.first(where: { access("\($0)/\(manager)", F_OK) == 0 }) else { return [] }
    let units = SmallFiles.directories(in: "\(mount)/\(manager)/app.slice", most: most)
    // If there are too many to select Flatpaks, all are searched, up to the bound.
    let apps = units.count < most ? units.filter { $0.hasPrefix("app-flatpak-") } : units
    let slices = SmallFiles.directories(in: "\(mount)/\(manager)/refreshd.slice", most: bound + 1)
    let tasks = slices.flatMap { slice in
      SmallFiles.directories(in: "\(mount)/\(manager)/refreshd.slice/\(slice)", most: mostOfSlice)
        .filter { UnitNames.isUnit($0[...]) }.map { "\(mount)/\(manager)/refreshd.slice/\(slice)/\($0)" }
    }
    return apps.map { "\(mount)/\(manager)/app.slice/\($0)" } + tasks
  }

  /// The confinement of a process in a cgroup, by the cgroup's path in the unified hierarchy.
  func confinement(inCgroup path: String) -> CallerConfinement {
    let names = path.split(separator: "/")
    for (parent, name) in zip([""] + names, names) {
      if UnitNames.isUnit(name) { return .init(UnitNames.app(ofSlice: parent)) }
      if name.hasPrefix(CgroupTrees.start), let key = TaskKey(name.dropFirst(CgroupTrees.start.utf8.count)) {
        return .init(launcher.app(of: key))
      }
      if let app = Self.flatpak(ofScope: name) { return app.map { .sandbox(.init($0.description)) } ?? .fromAll }
    }
    return .none
  }

  /// The app of the scope in which Flatpak starts an instance: `app-flatpak-org.example.Todo-1234.scope`.
  private static func flatpak(ofScope name: Substring) -> AppID?? {
    guard name.hasPrefix("app-flatpak-"), name.hasSuffix(".scope"), let dash = name.lastIndex(of: "-") else {
      return nil
    }
    let app = name[..<dash].dropFirst("app-flatpak-".count)
    return .some(AppID(UnitNames.unescaped(app)))
  }
}

extension CallerConfinement {
  /// Confines a process to an app, or from all apps if the app is unknown.
  fileprivate init(_ app: AppID?) { self = app.map { .to($0.description) } ?? .fromAll }
}
