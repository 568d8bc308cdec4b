import CLinux
import Glibc
import RefreshEngine
import Testing
import Varlink

@testable import RefreshDaemon

@Suite struct CallerOriginTests {
  private static let manager = "/user.slice/user-1000.slice/user@1000.service"
  private static let slices = #"refreshd.slice/refreshd-org.example.to\x2ddo.slice"#

  /// The path of a cgroup, and what a process in it may speak about.
  @Test(
    arguments: [
      ("/", .none),
      ("", .none),
      ("/system.slice/ssh.service", .none),
      ("/system.slice/refreshd.service", .none),
      ("/\(slices)/refreshd-task-1-2-0.service", .to("org.example.to-do")),
      ("/\(slices)/refreshd-task-1-2-0.service/below/it", .to("org.example.to-do")),
      ("\(manager)/\(slices)/refreshd-task-708ac3c5-1-2-0.service", .to("org.example.to-do")),
      // The hash of a name that is too long, and a slice that is no app's: the app is lost, so nothing is allowed.
      ("/refreshd.slice/refreshd-abcdef.slice/refreshd-task-1-2-0.service", .fromAll),
      ("/refreshd-task-1-2-0.service", .fromAll),
      ("/system.slice/refreshd.service/refresh-1-2-0", .fromAll),
      ("/system.slice/refreshd.service/refresh-service", .none),
      ("\(manager)/app.slice/app-flatpak-org.example.Todo-4711.scope", .sandbox(.init("org.example.Todo"))),
      (#"\#(manager)/app.slice/app-flatpak-org.example.to\x2ddo-4711.scope"#, .sandbox(.init("org.example.to-do"))),
      ("\(manager)/app.slice/app-gnome-org.example.Todo-4711.scope", .none),
    ] as [(String, CallerConfinement)])
  func theCgroupSaysWhatAProcessMaySpeakAbout(path: String, confinement: CallerConfinement) {
    let origin = CallerOrigin(readsRoots: false, processes: .inMemory())
    #expect(origin.confinement(inCgroup: path) == confinement)
  }

  /// A cgroup, a security label, and what a process may speak about: AppArmor's label decides before the cgroup.
  @Test(
    arguments: [
      ("\(manager)/app.slice/snap.todo.gui-1a2b.scope", nil, .sandbox(.init("snap.todo"))),
      ("/system.slice/snap.todo.daemon.service", nil, .sandbox(.init("snap.todo"))),
      ("\(manager)/app.slice/snap.todo_two.hook.install-1a2b.scope", nil, .sandbox(.init("snap.todo_two"))),
      // Another security module says nothing about Snaps.
      ("\(manager)/app.slice/snap.todo.gui-1a2b.scope", "u:r:unconfined_t:s0", .sandbox(.init("snap.todo"))),
      ("\(manager)/app.slice/snap.todo.gui-1a2b.scope", "", .sandbox(.init("snap.todo"))),
      ("\(manager)/app.slice/snap.0ad.gui-1a2b.scope", nil, .fromAll),
      ("\(manager)/app.slice/snap.todo.gui-1a2b.scope", "snap.todo.gui (enforce)", .sandbox(.init("snap.todo"))),
      ("/user.slice", "snap.todo.gui (enforce)", .sandbox(.init("snap.todo"))),
      ("/user.slice", "snap.todo.gui//child (enforce)", .sandbox(.init("snap.todo"))),
      ("/user.slice", "snap.todo.gui (unconfined)", .sandbox(.init("snap.todo"))),
      // A terminal in a classic Snap, and what it starts with another profile.
      ("\(manager)/app.slice/snap.code.code-1a2b.scope", "snap.code.code (complain)", .none),
      ("\(manager)/app.slice/snap.code.code-1a2b.scope", "snap.code.code//null-/bin/sh (complain)", .none),
      ("\(manager)/app.slice/snap.code.code-1a2b.scope", "unconfined", .none),
      ("\(manager)/app.slice/snap.code.code-1a2b.scope", "/usr/bin/man (enforce)", .none),
      // A task or a Flatpak that starts a Snap of another app is neither.
      ("/\(slices)/refreshd-task-1-2-0.service", "snap.todo.gui (enforce)", .fromAll),
      ("/\(slices)/refreshd-task-1-2-0.service", "unconfined", .to("org.example.to-do")),
      ("\(manager)/app.slice/app-flatpak-org.example.Todo-4711.scope", "snap.todo.gui (enforce)", .fromAll),
    ] as [(String, String?, CallerConfinement)])
  func theLabelDecidesAboutASnapBeforeTheCgroup(path: String, label: String?, confinement: CallerConfinement) {
    let origin = CallerOrigin(readsRoots: false, processes: .inMemory())
    #expect(origin.confinement(inCgroup: path, label: label) == confinement)
  }

  /// A `.flatpak-info`, and what its instance may speak about.
  @Test(
    arguments: [
      ("", .fromAll),
      (
        "[Application]\nname=org.example.Todo\nruntime=x\n[Instance]\nname=org.example.Mail\n",
        .sandbox(.init("org.example.Todo"))
      ),
      (
        "[Application]\nname=org.example.Todo\n[Instance]\ninstance-path=/home/a\n[Context]\nshared=network;ipc;\n",
        .sandbox(.init("org.example.Todo", folder: "/home/a", hasNetwork: true))
      ),
      ("[Instance]\nname=org.example.Mail\n", .fromAll),
      ("[Runtime]\nname=org.example.Platform\n", .fromAll),
      ("[Application]\nname=nothing\n", .fromAll),
      (" [Application] \n# a comment\n name = org.example.Todo\n", .sandbox(.init("org.example.Todo"))),
      ("[Application]\nname=org.example.Todo\nname=org.example.Mail\n", .fromAll),
      ("[Application]\nname=org.example.Todo\n[Application]\nname=org.example.Mail\n", .fromAll),
      ("[Application]\nname=org.example.Todo\n\0", .fromAll),
      ("[Application]\nname=org.example.Todo\n" + String(repeating: "#", count: 16 << 10), .fromAll),
    ] as [(String, CallerConfinement)])
  func aFlatpakIsKnownByItsInformation(info: String, confinement: CallerConfinement) {
    #expect(FlatpakInformation.confinement(by: Array(info.utf8)) == confinement)
  }

  @Test func thisProcessIsNoTask() {
    let origin = CallerOrigin(readsRoots: true, processes: .inMemory())
    #expect(origin.confinement(of: CallerProcess(id: getpid(), user: getuid())) == .none)
  }

  /// The kernel gives 0 for a peer outside of the daemon's pid namespace.
  @Test(arguments: [false, true]) func aProcessThatTheDaemonCannotSeeIsNobody(readsRoots: Bool) {
    let origin = CallerOrigin(readsRoots: readsRoots, processes: .inMemory())
    #expect(origin.confinement(of: CallerProcess(id: 0, user: 1000)) == .fromAll)
  }

  /// The kernel keeps the pid namespace of a process until a parent has waited for it.
  @Test func aProcessThatHasEndedIsPlainAsLongAsItsNamespaceIsKnown() throws {
    let origin = CallerOrigin(readsRoots: false, processes: .inMemory())
    var process: pid_t = 0
    try #require(posix_spawn(&process, "/bin/true", nil, nil, [nil], nil) == 0)
    let pidfd = linux_pidfd_open(process)
    defer { close(pidfd) }
    var end = siginfo_t()
    try #require(waitid(P_PID, id_t(process), &end, WEXITED | WNOWAIT) == 0)
    let ended = CallerProcess(id: process, user: 1000, pidfd: pidfd, hasEnded: true)
    #expect(origin.confinement(ofEnded: ended) == .none)
    try #require(waitpid(process, nil, 0) == process)
    #expect(origin.confinement(ofEnded: ended) == .fromAll)
  }

  /// A user may make any number of cgroups, and the daemon examines at most a bounded number.
  @Test func aTreeOfCgroupsIsLookedIntoUpToABound() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    var template = Array("\(parent)/cgroups-XXXXXX".utf8CString)
    let top = try template.withUnsafeMutableBufferPointer { buffer in
      String(cString: try #require(buffer.baseAddress.flatMap { mkdtemp($0) }))
    }
    defer { remove(top) }
    var made = [top]
    for level in 1...10 {
      for name in ["a.scope", "b"] {
        made.append("\(top)\(String(repeating: "/b", count: level - 1))/\(name)")
        try #require(mkdir(made[made.count - 1], 0o700) == 0)
      }
    }
    let deepest = try #require(made.last)
    for directory in made {
      let file = try #require(fopen("\(directory)/cgroup.procs", "w"))
      fputs(directory == deepest ? "1\n4711\n" : "1\n", file)
      fclose(file)
    }
    #expect(Cgroup.holder(of: 4711, among: ["/nowhere", top], bound: 22) == .cgroup(top))
    #expect(Cgroup.holder(of: 4712, among: ["/nowhere", top], bound: 22) == .none)
    #expect(Cgroup.holder(of: 4712, among: ["/nowhere", top], bound: 21) == .unknown)
  }

  /// Removes a folder with all that is in it.
  private func remove(_ directory: String) {
    for name in SmallFiles.directories(in: directory, most: .max) { remove("\(directory)/\(name)") }
    unlink("\(directory)/cgroup.procs")
    rmdir(directory)
  }
}
