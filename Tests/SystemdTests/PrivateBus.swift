import Glibc
import Testing

@testable import Systemd

/// A message bus that a test can start and stop: dbus-daemon(1) on a socket in a new directory.
final class PrivateBus {
  let address: BusAddress
  private let directory: String
  private var process: pid_t?

  init() throws {
    var template = Array("/tmp/bus-XXXXXX".utf8CString)
    directory = String(cString: try #require(mkdtemp(&template)))
    address = BusAddress("unix:path=\(directory)/socket", name: "test bus")
  }

  deinit {
    stop()
    rmdir(directory)
  }

  /// Starts the bus, which serves a moment later.
  func start() throws {
    let words = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog", "--address=\(address.text)"]
    var arguments = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Its warnings, such as a low limit of descriptors, do not belong in the output.
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var process = pid_t()
    try #require(posix_spawnp(&process, "dbus-daemon", &actions, nil, &arguments, environ) == 0, "install dbus-daemon")
    self.process = process
  }

  /// Makes the bus silent: it reads and answers nothing until ``resume()``.
  func pause() { if let process { kill(process, SIGSTOP) } }

  /// Has the bus go on.
  func resume() { if let process { kill(process, SIGCONT) } }

  /// Stops the bus and removes its socket.
  func stop() {
    guard let process else { return }
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    self.process = nil
    unlink("\(directory)/socket")
  }
}
