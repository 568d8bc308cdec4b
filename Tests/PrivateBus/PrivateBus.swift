import Glibc
import Systemd

/// A message bus that a test can start and stop: dbus-daemon(1) on a socket in a new directory.
public final class PrivateBus {
  /// The address of the bus.
  public let address: BusAddress
  private let directory: String
  private var process: pid_t?

  /// Makes the directory of the bus, which does not serve yet.
  public init() throws(SystemdError) {
    var template = Array("/tmp/bus-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw SystemdError(cannot: "make a directory", code: errno) }
    directory = String(cString: made)
    address = BusAddress("unix:path=\(directory)/socket", name: "test bus")
  }

  deinit {
    stop()
    rmdir(directory)
  }

  /// Starts the bus, which serves a moment later.
  public func start() throws(SystemdError) {
    let words = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog", "--address=\(address.text)"]
    var arguments = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Its warnings, such as a low limit of descriptors, do not belong in the output.
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var process = pid_t()
    let code = posix_spawnp(&process, "dbus-daemon", &actions, nil, &arguments, environ)
    guard code == 0 else {
      throw SystemdError(cannot: "start dbus-daemon", code: code, remedy: "Install dbus-daemon.")
    }
    self.process = process
  }

  /// Makes the bus silent: it reads and answers nothing until ``resume()``.
  public func pause() { if let process { kill(process, SIGSTOP) } }

  /// Has the bus go on.
  public func resume() { if let process { kill(process, SIGCONT) } }

  /// Stops the bus and removes its socket.
  public func stop() {
    guard let process else { return }
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    self.process = nil
    unlink("\(directory)/socket")
  }
}
