@preconcurrency import CLinux
import Glibc

/// A started process and its descriptors.
struct ChildProcess {
  /// The id of the process, its session and its process group.
  let id: pid_t
  /// The pidfd, readable when the process has ended; the receiver closes it.
  let descriptor: Int32
  /// The non-blocking reading end of its standard output and standard error; the receiver closes it.
  let output: Int32
}

/// Starts processes as `Sources/CLinux/spawn.h` describes.
final class Spawner {
  /// Enough for the few frames of the child and for a signal frame.
  private static let stackSize = 64 * 1024
  private let stack = UnsafeMutableRawPointer.allocate(byteCount: Spawner.stackSize, alignment: 4096)
  private let null: Int32
  /// The descriptors from which the child takes its streams; `/dev/null` between starts.
  ///
  /// They are opened once, at the start of the daemon, because the child copies every descriptor up to them.
  private let staged: (input: Int32, output: Int32)
  /// Whether a child shares the descriptors until it has copied the few that it needs.
  private var sharesDescriptors = linux_copies_few_descriptors() != 0
  /// The limit of open files that the daemon was started with, before the daemon raised it.
  private let files: rlimit

  /// Makes a spawner; throws when `/dev/null` cannot be opened.
  init() throws(SystemCallError) {
    files = DescriptorLimit.current
    null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard null >= 0 else { throw SystemCallError(attempt: "open /dev/null", code: errno) }
    staged = (fcntl(null, F_DUPFD_CLOEXEC, 3), fcntl(null, F_DUPFD_CLOEXEC, 3))
    guard staged.input >= 0, staged.output >= 0 else {
      throw SystemCallError(attempt: "open /dev/null", code: errno)
    }
  }

  deinit {
    close(null)
    close(staged.input)
    close(staged.output)
    stack.deallocate()
  }

  /// Starts the main process of a task, and returns when its program runs.
  ///
  /// `cgroup` is an open `cgroup.procs` that the process joins first.
  func spawn(_ launch: TaskLaunch, cgroup: Int32?) throws(StartError) -> ChildProcess {
    let command = launch.command
    guard let program = command.arguments.first else { throw StartError(sentence: "cannot start an empty command") }
    let group = command.group ?? launch.owner.gid
    let changesUser = launch.owner.uid != geteuid() || group != getegid()
    guard let groups = changesUser ? launch.owner.groups : [] else {
      throw StartError(
        sentence: "cannot start \(program): the user database did not tell the groups of \(launch.owner.name) when the "
          + "configuration was read; try refreshctl reload")
    }
    let directory = command.directory ?? launch.owner.home
    let input =
      try launch.input.map { (bytes) throws(StartError) in try TaskStreams.input(bytes, for: program) } ?? null
    defer { if input != null { close(input) } }
    let pipe = try TaskStreams.output(for: program)
    defer { close(pipe.writer) }

    var request = linux_spawn()
    // A writing end that stayed open here would hide the end of the task's output.
    defer {
      _ = linux_copy_descriptor(null, staged.input)
      _ = linux_copy_descriptor(null, staged.output)
    }
    guard linux_copy_descriptor(input, staged.input) >= 0, linux_copy_descriptor(pipe.writer, staged.output) >= 0 else {
      let code = errno
      close(pipe.reader)
      throw StartError(program, "cannot connect its standard streams", code)
    }
    (request.input, request.output, request.last) = (staged.input, staged.output, max(staged.input, staged.output))
    request.shares = sharesDescriptors ? 1 : 0
    request.cgroup = cgroup ?? -1
    request.files = files
    request.gives_way = launch.givesWay ? 1 : 0
    request.changes_user = changesUser ? 1 : 0
    request.user = launch.owner.uid
    request.group = group
    let process = StringVector.with(command.arguments) { arguments in
      StringVector.with(launch.environment) { environment in
        directory.withCString { directory in
          groups.withUnsafeBufferPointer { groups in
            request.program = UnsafePointer(arguments[0])
            request.arguments = UnsafePointer(arguments.baseAddress)
            request.environment = UnsafePointer(environment.baseAddress)
            request.directory = directory
            request.groups = groups.baseAddress
            request.group_count = groups.count
            return linux_spawn_start(&request, stack, Self.stackSize)
          }
        }
      }
    }
    sharesDescriptors = request.shares != 0
    guard process > 0 else {
      close(pipe.reader)
      throw Self.failure(of: request, program: program, user: launch.owner.name, directory: directory)
    }
    return ChildProcess(id: process, descriptor: request.pidfd, output: pipe.reader)
  }

  private static func failure(
    of request: linux_spawn, program: String, user: String, directory: String
  ) -> StartError {
    let code = request.error
    switch request.failed {
    case LINUX_SPAWN_CGROUP:
      return StartError(program, "cannot join its cgroup", code)
    case LINUX_SPAWN_STREAMS:
      return StartError(program, "cannot connect its standard streams", code)
    case LINUX_SPAWN_USER:
      let remedy = "; only a daemon that runs as root can start tasks of other users and groups"
      return StartError(program, "cannot become user \(user)", code, remedy: code == EPERM ? remedy : "")
    case LINUX_SPAWN_DIRECTORY:
      return StartError(program, "cannot enter its directory \(directory)", code, remedy: "; make it, or name another")
    case LINUX_SPAWN_PROGRAM:
      return StartError(program, exec: code)
    default:
      return StartError(program, "cannot make a process", code)
    }
  }
}

/// Strings in the form of `argv` and `environ`: pointers to C strings, and a null pointer at the end.
private enum StringVector {
  /// Calls `body` with the vector, which is valid during the call.
  ///
  /// All bytes are in one block, because every start of a task does this.
  static func with<Result>(
    _ strings: [String], _ body: (UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    let size = strings.reduce(0) { $0 + $1.utf8.count + 1 }
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { bytes in
      withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<CChar>?.self, capacity: strings.count + 1) { vector in
        var offset = 0
        for (index, string) in strings.enumerated() {
          let slot = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
          slot.copyBytes(from: string.utf8)
          slot[string.utf8.count] = 0
          vector.initializeElement(at: index, to: slot.baseAddress?.assumingMemoryBound(to: CChar.self))
          offset += string.utf8.count + 1
        }
        vector.initializeElement(at: strings.count, to: nil)
        return body(vector)
      }
    }
  }
}
