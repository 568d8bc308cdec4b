import Dispatch
import FoundationEssentials
import Glibc
import RefreshAPI
import Testing
import Varlink

/// A daemon of the test's own: the built refreshd as a process, in a directory that is removed with it.
final class Daemon {
  static let app = "org.example.todo"

  let socket: String
  private let directory: String
  private let notices: Int32
  private var process: pid_t?

  /// Starts a daemon with one app, and waits until it is ready; only `keys` can give the app a refresh.
  init(keys: String = "", task: String? = nil) throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    directory = "\(parent)/refreshkit-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    socket = "\(directory)/socket"
    try FileManager.default.createDirectory(atPath: "\(directory)/config/apps.d", withIntermediateDirectories: true)
    notices = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    try bindNotices()
    try write(
      """
      launcher = "spawn"
      foreground_floor = "1ms"
      background_floor = "1ms"
      settle = "0s"
      """, to: "config/refreshd.toml")
    let table = task.map { "\n[[task]]\nshell = '''\($0)'''\n" } ?? ""
    try write(
      """
      id = "\(Self.app)"
      foreground_interval = "never"
      background_interval = "never"
      on_foreground = "never"
      \(keys)
      \(table)
      """, to: "config/apps.d/\(Self.app).toml")
    try start()
  }

  deinit {
    end(with: SIGKILL)
    close(notices)
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Starts the process, and waits until it reports that it is ready.
  func start() throws {
    let words = [
      "\(try Self.programs())/refreshd", "--config", "\(directory)/config", "--state", "\(directory)/state", "--socket",
      socket,
    ]
    // The options of a sanitizer hold for the programs under test, too.
    let sanitizer = getenv("ASAN_OPTIONS").map { ["ASAN_OPTIONS=\(String(cString: $0))"] } ?? []
    let environment = ["NOTIFY_SOCKET=\(directory)/notify", "PATH=/usr/bin:/bin"] + sanitizer
    var arguments = words.map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var pid = pid_t()
    try #require(posix_spawn(&pid, words[0], nil, nil, &arguments, &variables) == 0)
    process = pid
    while try !nextNotice().contains("READY=1") {}
  }

  /// Ends the process by a signal, and waits until it is gone.
  func end(with signal: Int32 = SIGTERM) {
    guard let process else { return }
    kill(process, signal)
    // A stopped process handles the signal only after SIGCONT.
    kill(process, SIGCONT)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    self.process = nil
  }

  /// Stops the process, so that it exists but does not respond.
  func suspend() { if let process { kill(process, SIGSTOP) } }

  /// Calls a method as another client.
  func ask<Method: InterfaceMethod>(_ method: Method.Type, _ parameters: Method.Parameters) throws -> Method.Reply {
    try Client(path: socket).call(Method.self, parameters)
  }

  /// Starts a refresh of the app, and does not wait for its end.
  func refresh(_ trigger: Wire.Trigger = .manual) throws {
    try Client(path: socket).send(ManagerInterface.Run.self, .init(app: Self.app, trigger: trigger))
  }

  /// The app as it is now.
  func shown() throws -> Wire.AppDetails { try ask(ManagerInterface.Show.self, .init(app: Self.app)).app }

  /// The last refresh that has ended.
  func last() throws -> Wire.Refresh? {
    // The daemon answers `Set` after it has saved everything before it.
    _ = try ask(ManagerInterface.Set.self, .init(apps: [Self.app]))
    return try ask(ManagerInterface.History.self, .init(app: Self.app)).refreshes.first
  }

  /// Waits until the app is in this phase; 30 s at most.
  func wait(for phase: Wire.Phase) async throws {
    let socket = socket
    let result = await withCheckedContinuation { waiting in
      // On a thread of Dispatch, because the few threads of Swift's tasks must not block.
      DispatchQueue.global().async {
        waiting.resume(returning: Result { try Self.waitBlocking(for: phase, at: socket) })
      }
    }
    try result.get()
  }

  private static func waitBlocking(for phase: Wire.Phase, at socket: String) throws {
    let watch = try Client(path: socket)
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(watch.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var failure: (any Error)?
    try watch.stream(ManagerInterface.Watch.self, .init(apps: [app])) { answer in
      guard answer.event.kind == .watching else { return answer.event.phase != phase }
      do {
        // The watch reports changes from now on, and this call shows the changes before.
        let shown = try Client(path: socket).call(ManagerInterface.Show.self, .init(app: app))
        return shown.app.phase != phase
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  private func write(_ text: String, to path: String) throws {
    try text.write(toFile: "\(directory)/\(path)", atomically: true, encoding: .utf8)
  }

  private func bindNotices() throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(directory)/notify".utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(notices, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(notices, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  private func nextNotice() throws -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(notices, &bytes, bytes.count, 0)
    try #require(count >= 0, "refreshd did not say that it is ready")
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// The directory of the programs that were built with the tests.
  private static func programs() throws -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    try #require(count > 0)
    let test = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // Either the test bundle runs, or the toolchain's runner with the bundle as an argument.
    let bundle = ([test] + CommandLine.arguments).first { $0.hasSuffix(".xctest") }
    return try #require(bundle).split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
  }
}
