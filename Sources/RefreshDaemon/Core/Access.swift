import CLinux
import Glibc
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

/// The rights of callers, by the credentials of their sockets and the origin of their processes.
struct Access {
  /// The daemon's user, who may do everything.
  let uid: uid_t
  /// The group `refreshd`, whose members may do everything; nil if there is none, and for a user's own daemon.
  let group: gid_t?
  /// The user of the push bridge, who may only send pushes; nil as for the group.
  let bridge: uid_t?
  /// Whether the daemon is a user's own, and obeys only that user and root.
  var isUserDaemon = false

  /// Looks up the daemon's user, and for the system's daemon the group and the bridge's user.
  static func current(isUserDaemon: Bool) -> Access {
    guard !isUserDaemon else { return Access(uid: getuid(), group: nil, bridge: nil, isUserDaemon: true) }
    return Access(
      uid: getuid(), group: getgrnam("refreshd").map { $0.pointee.gr_gid },
      bridge: getpwnam("refresh-push").map { $0.pointee.pw_uid })
  }

  /// Whether the peer may ask about the daemon itself and about every app.
  func mayAll(_ peer: Peer) -> Bool { peer.confinement == .none && hasPower(peer) }

  /// Whether the peer may ask about the daemon, as far as its own apps are concerned; the bridge has no apps.
  func maySeeOwn(_ peer: Peer) -> Bool {
    mayAll(peer) || peer.confinement == .none && !isUserDaemon && peer.uid != bridge
  }

  /// Whether the peer may ask about the app, and signal for it.
  func may(_ peer: Peer, about app: AppConfiguration) -> Bool {
    (peer.confinement == .none || peer.confinement.subject == app.id.description)
      && (peer.uid == app.owner.uid || hasPower(peer))
  }

  /// Whether the peer may send pushes for all apps, as the bridge does.
  func mayPush(_ peer: Peer) -> Bool { mayAll(peer) || peer.confinement == .none && peer.uid == bridge }

  private func hasPower(_ peer: Peer) -> Bool {
    peer.uid == 0 || peer.uid == uid || group.map(peer.isMember) == true
  }

  /// The error for a peer that may not ask about an app, whether the app exists or not.
  func refusal(of peer: Peer, app name: String) -> RefreshdInterface.NotAllowed {
    RefreshdInterface.NotAllowed(app: name, remedy: remedy(for: peer))
  }

  /// The remedy for a caller that may not ask about an app.
  func remedy(for peer: Peer) -> String {
    switch peer.confinement {
    case .none: isUserDaemon ? remedy : "Ask as its owner, as root or as a member of the group refreshd."
    case .to(let name): "A task speaks for itself only: ask about \(name)."
    case .sandbox(let sandbox): "A sandboxed app speaks for itself only: ask about \(sandbox.subject)."
    case .fromAll: "Ask from a process that waits for the answer, outside a sandbox."
    }
  }

  /// The remedy for a confined caller of a method that is for people.
  func remedyForPeople(_ peer: Peer) -> String {
    guard let name = peer.confinement.subject else { return remedy(for: peer) }
    return "This is for the person, outside a task and a sandbox; \(name) may signal, attach, complete and transfer."
  }

  /// The remedy for a caller that may not send pushes for all apps.
  ///
  /// Users are looked up once at the start, because the loop would wait for a directory server.
  var remedyForPushes: String {
    guard !isUserDaemon else { return remedy }
    let late =
      bridge == nil ? " There was no such user when refreshd started; if there is one now, restart refreshd." : ""
    return "Ask as root, as the user refresh-push or as a member of the group refreshd." + late
  }

  /// The remedy for a caller that may not ask about the daemon.
  var remedy: String {
    isUserDaemon
      ? "Ask as the user of this daemon, or as root." : "Ask as root or as a member of the group refreshd."
  }
}

/// The origin of a caller's process: a task, a sandboxed Flatpak, or any other process.
///
/// A task may run in the sandbox of its app's file, and a Flatpak in its own. Over the socket each could make the user's
/// other apps act for it, so it may speak for its own app only. The origin restricts; it never grants a right.
struct CallerOrigin {
  /// Whether the daemon may open files in the root directory of a caller, which is its own user's.
  ///
  /// Another user could give its process a root directory that never answers.
  let readsRoots: Bool
  let processes: Processes

  /// How many cgroups are searched for one caller.
  private static let bound = 512
  /// How many names are read from a folder of units, and from an app's slice.
  private static let (most, mostOfSlice) = (4096, 64)

  /// The confinement of a process that lives.
  func confinement(of process: CallerProcess) -> CallerConfinement {
    // The kernel gives 0 for a process outside of the daemon's pid namespace, so nothing about it can be read.
    guard process.id > 0 || process.user == 0 && !readsRoots else { return .fromAll }
    let byCgroup = confinementByCgroup(of: process)
    guard readsRoots else {
      // A Flatpak has a pid namespace of its own, and a task may have started another app's.
      guard process.user != 0, byCgroup.sandbox == nil else { return byCgroup }
      return Self.isNested(process.pidfd) != false ? .fromAll : byCgroup
    }
    return byCgroup.and(FlatpakInformation.confinement(of: process.id, process.user))
  }

  /// The confinement of a process that has ended, perhaps before its call was read.
  ///
  /// The kernel keeps the cgroup of a process, but its pid namespace only until a parent has waited for it.
  func confinement(ofEnded process: CallerProcess) -> CallerConfinement {
    let user = process.user
    let membership = SmallFiles.bytes(of: "/proc/\(process.id)/cgroup")
    // As long as nobody has waited for the process, no other has its id.
    let isNested = Self.isNested(process.pidfd)
    let known = isNested == nil ? nil : Cgroup.path(in: membership)
    guard let path = known ?? cgroup(ofEnded: process.pidfd, user), !path.hasSuffix(Cgroup.deletedMark) else {
      return .fromAll
    }
    let byCgroup = confinement(inCgroup: path, label: process.securityLabel)
    // In a pid namespace of its own it may have been a Flatpak, whose root directory is gone.
    guard isNested != false, user != 0 || readsRoots && getuid() == 0 else { return byCgroup }
    guard !readsRoots else { return .fromAll }
    // A task counts as such if its namespace is not known any more.
    return byCgroup == .none || isNested == true && byCgroup.sandbox == nil ? .fromAll : byCgroup
  }

  /// The cgroup of a process that a parent has waited for; nil if it cannot be known, or would not help.
  private func cgroup(ofEnded pidfd: Int32, _ user: uid_t) -> String? {
    // Outside these, a user's process would be nobody.
    let places =
      user == 0
      ? Cgroup.mounts.filter { access("\($0)/cgroup.procs", F_OK) == 0 }
      : processes.cgroups + Self.cgroups(ofManagerOf: user)
    return Cgroup.path(ofID: linux_pidfd_cgroup(pidfd), among: places, bound: user == 0 ? Self.most : Self.bound)
  }

  /// Whether a process has a pid namespace below the daemon's; nil if it cannot be known.
  private static func isNested(_ pidfd: Int32) -> Bool? {
    let lines = SmallFiles.bytes(of: "/proc/self/fdinfo/\(pidfd)").split(separator: UInt8(ascii: "\n"))
    let start = "NSpid:\t".utf8
    guard !lines.isEmpty else { return nil }
    guard let line = lines.first(where: { $0.starts(with: start) }) else { return false }
    let ids = line.dropFirst(start.count)
    return ids.first == UInt8(ascii: "-") ? nil : ids.contains(UInt8(ascii: "\t"))
  }

  private func confinementByCgroup(of process: CallerProcess) -> CallerConfinement {
    let label = process.securityLabel
    errno = 0
    let membership = SmallFiles.bytes(of: "/proc/\(process.id)/cgroup")
    if let path = Cgroup.path(in: membership) { return confinement(inCgroup: path, label: label) }
    // Without a descriptor to read with, nothing is known.
    guard membership.isEmpty, [ENOENT, ESRCH, EACCES].contains(errno) else {
      return membership.isEmpty ? .fromAll : confinement(inCgroup: "/", label: label)
    }
    // The daemon's unit hides other users' processes (ProtectProc=), but not their ids in cgroups.
    let candidates = processes.cgroups + Self.cgroups(ofManagerOf: process.user)
    return switch Cgroup.holder(of: process.id, among: candidates, bound: Self.bound) {
    case .none: confinement(inCgroup: "/", label: label)
    case .cgroup(let path): confinement(inCgroup: path, label: label)
    case .unknown: .fromAll
    }
  }

  /// The cgroups of the tasks, the Flatpaks and the Snaps that a user's own service manager runs.
  private static func cgroups(ofManagerOf user: uid_t) -> [String] {
    let manager = "user.slice/user-\(user).slice/user@\(user).service"
    guard let mount = Cgroup.mounts.first(where: { access("\($0)/\(manager)", F_OK) == 0 }) else { return [] }
    let units = SmallFiles.directories(in: "\(mount)/\(manager)/app.slice", most: most)
    // If there are too many to select, all are searched, up to the bound.
    let apps = units.count < most ? units.filter { $0.hasPrefix("app-flatpak-") || $0.hasPrefix(Snap.start) } : units
    let slices = SmallFiles.directories(in: "\(mount)/\(manager)/refreshd.slice", most: bound + 1)
    let tasks = slices.flatMap { slice in
      SmallFiles.directories(in: "\(mount)/\(manager)/refreshd.slice/\(slice)", most: mostOfSlice)
        .filter { UnitNames.isUnit($0[...]) }.map { "\(mount)/\(manager)/refreshd.slice/\(slice)/\($0)" }
    }
    return apps.map { "\(mount)/\(manager)/app.slice/\($0)" } + tasks
  }

  /// The confinement of a process in a cgroup, by the cgroup's path in the unified hierarchy and its own security label.
  func confinement(inCgroup path: String, label: String? = nil) -> CallerConfinement {
    let byLabel = Snap.confinement(byLabel: label)
    return confinement(byNames: path.split(separator: "/"), findsSnaps: byLabel == nil).and(byLabel)
  }

  private func confinement(byNames names: [Substring], findsSnaps: Bool) -> CallerConfinement {
    for (parent, name) in zip([""] + names, names) {
      if UnitNames.isUnit(name) { return .init(UnitNames.app(ofSlice: parent)) }
      if name.hasPrefix(CgroupTrees.start), let key = ProcessKey(name.dropFirst(CgroupTrees.start.utf8.count)) {
        return .init(processes.app(of: key))
      }
      if let app = Self.flatpak(ofScope: name) { return app.map { .sandbox(.init($0.description)) } ?? .fromAll }
      if findsSnaps, name.hasPrefix(Snap.start) { return Snap.confinement(byTag: name) }
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

  /// The confinement by this evidence and by other evidence, which must name the same app.
  ///
  /// A Flatpak that another app's task has started speaks for neither.
  fileprivate func and(_ other: CallerConfinement?) -> CallerConfinement {
    guard let other, other != .none else { return self }
    return self == .none || subject == other.subject ? other : .fromAll
  }
}

/// The evidence that a process belongs to a Snap, which speaks for the app `snap.NAME`.
enum Snap {
  /// The start of a Snap's security tags, `snap.NAME.APP`, which name its profiles of AppArmor and its units.
  static let start = "snap."

  /// The confinement by a label of AppArmor; nil for another label, so that the cgroup must decide.
  ///
  /// A classic Snap has a cgroup as any Snap, but snapd only has its profile complain: it is as free as its user.
  static func confinement(byLabel label: String?) -> CallerConfinement? {
    // Other modules' labels have neither form: SELinux gives `user:role:type:level`.
    guard let label, label == "unconfined" || label.hasSuffix(")") else { return nil }
    guard label.hasPrefix(start), !label.hasSuffix(" (complain)") else { return CallerConfinement.none }
    return confinement(byTag: label[...])
  }

  /// The confinement by a text that starts with a security tag.
  static func confinement(byTag tag: Substring) -> CallerConfinement {
    let name = tag.dropFirst(start.count).prefix { $0 != "." }
    return AppID(start + name).map { .sandbox(.init($0.description)) } ?? .fromAll
  }
}

/// The file `/.flatpak-info`, which Flatpak lays into the root directory of each of its instances.
///
/// A file that cannot be understood means that the caller speaks for nobody.
enum FlatpakInformation {
  /// How long the file may be.
  private static let longest = 16 << 10

  /// The confinement of a process by the file in its root directory; nil without such a file.
  static func confinement(of process: pid_t, _ user: uid_t) -> CallerConfinement? {
    let root = linux_open_path("/proc/\(process)/root")
    // A process whose first thread has ended shows no root directory, and other threads of it go on in a sandbox.
    guard root >= 0 else { return isOfAnother(process, user) ? nil : .fromAll }
    defer { close(root) }
    let descriptor = openat(root, ".flatpak-info", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard descriptor >= 0 else { return errno == ENOENT || isOfAnother(process, user) ? nil : .fromAll }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= longest else {
      return .fromAll
    }
    return confinement(by: SmallFiles.bytes(of: descriptor, most: longest))
  }

  /// Whether the root directory that could not be opened, for the reason in `errno`, is not a user's to open.
  ///
  /// It is one of root's processes, or of a toolbox, which may have one of FUSE.
  private static func isOfAnother(_ process: pid_t, _ user: uid_t) -> Bool {
    errno == EACCES && (user == 0 && getuid() != 0 || hasRootOfFUSE(process))
  }

  /// The confinement by the bytes of the file, which has groups of keys as a desktop file has.
  static func confinement(by bytes: [UInt8]) -> CallerConfinement {
    guard !bytes.contains(0), bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self) else {
      return .fromAll
    }
    var group: Substring = ""
    var values: [String: [Substring]] = [:]
    for line in text.split(separator: "\n").map(\.withoutSpaces) {
      if line.hasPrefix("[") { group = line }
      guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
      values["\(group)\(line[..<equals].withoutSpaces)", default: []].append(
        line[line.index(after: equals)...].withoutSpaces)
    }
    guard let names = values["[Application]name"], names.count == 1, let app = AppID(String(names[0])) else {
      return .fromAll
    }
    return .sandbox(
      .init(
        app.description, folder: values["[Instance]instance-path"]?.first.map(String.init),
        hasNetwork: values["[Context]shared"]?.first?.split(separator: ";").contains("network") == true))
  }

  /// Whether the root directory of a process is of a FUSE file system, by its mountinfo: proc(5).
  private static func hasRootOfFUSE(_ process: pid_t) -> Bool {
    let mounts = SmallFiles.text(of: "/proc/\(process)/mountinfo") ?? ""
    let fields = mounts.split(separator: "\n").map { $0.split(separator: " ") }
    let root = fields.last { $0.dropFirst(4).first == "/" }
    return root?.drop { $0 != "-" }.dropFirst().first?.hasPrefix("fuse") == true
  }
}

extension Substring {
  /// The text without spaces and tabs at both ends.
  fileprivate var withoutSpaces: Substring {
    let isSpace = { (character: Character) in character == " " || character == "\t" || character == "\r" }
    let start = drop(while: isSpace)
    return start.lastIndex { !isSpace($0) }.map { start[...$0] } ?? start.prefix(0)
  }
}

/// The one who sees a view: a person or an app.
///
/// An app learns which of its constraints are met, but no network interface, no Wi-Fi network and no level: with these it
/// could find out where its user is.
enum Viewer: CaseIterable {
  /// A person, or a program that acts for one.
  case person
  /// A task or a sandboxed app.
  case app

  /// Makes it from the origin of a caller's process.
  init(_ peer: Peer) { self = peer.confinement == .none ? .person : .app }

  /// The result of a task without the condition that stopped it.
  func seen(_ task: TaskRecord) -> TaskRecord {
    guard self == .app, task.lostConstraint != nil else { return task }
    var task = task
    task.message = ""
    return task
  }

  /// The constraints without what the app's file names: networks, servers, folders, devices and commands.
  func seen(_ constraints: Constraints) -> Constraints {
    guard self == .app else { return constraints }
    var constraints = constraints
    (constraints.ssids, constraints.deniedSSIDs) = ([], [])
    for name in [\Constraints.mounted, \.present, \.reachable, \.when] where constraints[keyPath: name] != nil {
      constraints[keyPath: name] = "…"
    }
    return constraints
  }

  /// A condition of the machine, or whether it meets a constraint; nothing for an app without such a constraint.
  func seen(_ condition: Wire.Condition, isMet: Bool? = nil) -> Wire.Condition {
    guard self == .app else { return condition }
    return Wire.Condition(value: isMet.map { $0 ? "met" : "not met" }, source: "")
  }
}
