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

  /// The confinement of a process of a user.
  func confinement(of process: pid_t, _ user: uid_t) -> CallerConfinement {
    let information = "/proc/\(process)/root/.flatpak-info"
    if readsRoots, let app = Self.flatpak(by: Self.start(of: information)) { return app }
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

  /// The app of a Flatpak instance, from its `.flatpak-info`; nil for any other text.
  static func flatpak(by info: String) -> CallerConfinement? {
    guard !info.isEmpty else { return nil }
    var section: Substring = ""
    var values: [String: Substring] = [:]
    for line in info.split(separator: "\n") {
      if line.hasPrefix("[") { section = line }
      guard let equals = line.firstIndex(of: "=") else { continue }
      let key = "\(section)\(line[..<equals])"
      if values[key] == nil { values[key] = line[line.index(after: equals)...] }
    }
    guard let app = values["[Application]name"].flatMap({ AppID(String($0)) }) else { return .fromAll }
    return .sandbox(
      .init(
        app.description, folder: values["[Instance]instance-path"].map(String.init),
        hasNetwork: values["[Context]shared"]?.split(separator: ";").contains("network") == true))
  }

  /// The app of the scope in which Flatpak starts an instance: `app-flatpak-org.example.Todo-1234.scope`.
  private static func flatpak(ofScope name: Substring) -> AppID?? {
    guard name.hasPrefix("app-flatpak-"), name.hasSuffix(".scope"), let dash = name.lastIndex(of: "-") else {
      return nil
    }
    let app = name[..<dash].dropFirst("app-flatpak-".count)
    return .some(AppID(UnitNames.unescaped(app)))
  }

  /// The first bytes of a regular file; empty if there is none.
  private static func start(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return "" }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }
  }
}

extension CallerConfinement {
  /// Confines a process to an app, or from all apps if the app is unknown.
  fileprivate init(_ app: AppID?) { self = app.map { .to($0.description) } ?? .fromAll }
}
