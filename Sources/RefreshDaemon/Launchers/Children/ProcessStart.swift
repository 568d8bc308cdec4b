@preconcurrency import CLinux
import Glibc

/// The start of a process: what a thread needs to start it, and how that ended.
///
/// The loop makes it and gives it to a thread, which gives it back; only ``kill()`` may be called meanwhile.
final class ProcessStart: @unchecked Sendable {
  // @unchecked: the queue of a `StartThread` orders the uses.

  let program: String
  let directory: String
  let user: String
  /// The user whose starts count together.
  let uid: uid_t
  /// The reading end of the output.
  let output: Int32
  /// Called on the loop with the outcome.
  let answer: (Result<ChildProcess, StartError>) -> Void
  /// When the start takes too long, on the boot clock; nil before a thread has it.
  var end: Int64?
  /// Why the start is given up; nil while it is not.
  var isGivenUp: StartError?
  /// The id of the process; -1 if it was not started.
  private(set) var id: pid_t = -1

  private let request = UnsafeMutablePointer<linux_spawn>.allocate(capacity: 1)
  private let strings: [StringVector]
  private let path: UnsafeMutablePointer<CChar>
  private let groups: [gid_t]
  private let input: Int32
  private let writer: Int32
  private let cgroup: Int32?

  /// Makes the streams of a process; owns `cgroup`, an open `cgroup.procs` that it joins first.
  init(
    _ launch: TaskLaunch, cgroup: Int32?, files: rlimit, answer: @escaping (Result<ChildProcess, StartError>) -> Void
  ) throws(StartError) {
    let command = launch.command
    guard let program = command.arguments.first else { throw StartError(sentence: "cannot start an empty command") }
    let group = command.group ?? launch.owner.gid
    let changesUser = launch.owner.uid != geteuid() || group != getegid()
    guard let groups = changesUser ? launch.owner.groups : [] else {
      throw StartError(
        sentence: "cannot start \(program): the user database did not tell the groups of \(launch.owner.name) when the "
          + "configuration was read; try refreshctl reload")
    }
    let input = try launch.input.map { (bytes) throws(StartError) in try TaskStreams.input(bytes, for: program) }
    let pipe: (reader: Int32, writer: Int32)
    do throws(StartError) { pipe = try TaskStreams.output(for: program) } catch {
      if let input { close(input) }
      throw error
    }
    (self.program, self.user, uid, self.groups) = (program, launch.owner.name, launch.owner.uid, groups)
    directory = command.directory ?? launch.owner.home
    (output, writer, self.cgroup, self.answer) = (pipe.reader, pipe.writer, cgroup, answer)
    self.input = input ?? -1
    strings = [StringVector(command.arguments), StringVector(launch.environment)]
    path = strdup(directory)

    request.initialize(to: linux_spawn())
    request.pointee.program = UnsafePointer(strings[0].pointers[0])
    request.pointee.arguments = UnsafePointer(strings[0].pointers)
    request.pointee.environment = UnsafePointer(strings[1].pointers)
    request.pointee.directory = UnsafePointer(path)
    request.pointee.cgroup = cgroup ?? -1
    request.pointee.files = files
    request.pointee.processes = cgroup == nil ? Self.processes : rlim_t.max
    request.pointee.gives_way = launch.givesWay ? 1 : 0
    request.pointee.changes_user = changesUser ? 1 : 0
    request.pointee.user = launch.owner.uid
    request.pointee.group = group
    request.pointee.pidfd = -1
  }

  /// The most processes and threads of the user of a task without a cgroup, beyond which the task makes none.
  private static let processes: rlim_t = 4096

  deinit {
    free(path)
    request.deallocate()
  }

  /// Starts the process on the calling thread, which waits until the program runs.
  func run(on stage: StartThread.Stage) {
    let staged = stage.streams
    // Writing ends that stayed open here would hide the end of the task's output.
    defer {
      _ = linux_copy_descriptor(stage.null, staged.input)
      _ = linux_copy_descriptor(stage.null, staged.output)
      closeStreams()
    }
    guard linux_copy_descriptor(input >= 0 ? input : stage.null, staged.input) >= 0,
      linux_copy_descriptor(writer, staged.output) >= 0
    else {
      (request.pointee.failed, request.pointee.error) = (LINUX_SPAWN_STREAMS, errno)
      return
    }
    request.pointee.input = staged.input
    request.pointee.output = staged.output
    request.pointee.last = max(staged.input, staged.output)
    groups.withUnsafeBufferPointer { groups in
      request.pointee.groups = groups.baseAddress
      request.pointee.group_count = groups.count
      request.pointee.shares = stage.sharesDescriptors ? 1 : 0
      id = linux_spawn_start(request, stage.stack, StartThread.Stage.stackBytes)
      guard request.pointee.failed == LINUX_SPAWN_TABLE else { return }
      close(request.pointee.pidfd)
      stage.sharesDescriptors = false
      request.pointee.shares = 0
      id = linux_spawn_start(request, stage.stack, StartThread.Stage.stackBytes)
    }
  }

  /// Ends the process, if the thread has made it; callable while the thread starts it.
  func kill() { linux_spawn_kill(request) }

  /// The id of a process that the thread is starting; nil if it has made none.
  var startingProcess: pid_t? {
    let id = linux_spawn_pid(request)
    return id > 0 ? id : nil
  }

  /// Closes the descriptors of a start that no thread gets.
  func abandon() {
    closeStreams()
    close(output)
  }

  private func closeStreams() {
    if input >= 0 { close(input) }
    close(writer)
    if let cgroup { close(cgroup) }
  }

  /// The started process, or why there is none; no thread has the start.
  ///
  /// A start that was given up may have a process all the same, which was killed.
  func outcome() -> Result<ChildProcess, StartError> {
    guard id > 0 else {
      if request.pointee.pidfd >= 0 { close(request.pointee.pidfd) }
      close(output)
      return .failure(isGivenUp ?? failure)
    }
    return .success(ChildProcess(id: id, descriptor: request.pointee.pidfd, output: output))
  }

  private var failure: StartError {
    let code = request.pointee.error
    switch request.pointee.failed {
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
private final class StringVector {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let bytes: UnsafeMutableRawBufferPointer

  /// All bytes are in one block, because every start of a task makes one.
  init(_ strings: [String]) {
    pointers = .allocate(capacity: strings.count + 1)
    bytes = .allocate(byteCount: strings.reduce(0) { $0 + $1.utf8.count + 1 }, alignment: 1)
    var offset = 0
    for (index, string) in strings.enumerated() {
      let slot = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
      slot.copyBytes(from: string.utf8)
      slot[string.utf8.count] = 0
      pointers.advanced(by: index).initialize(to: slot.baseAddress?.assumingMemoryBound(to: CChar.self))
      offset += string.utf8.count + 1
    }
    pointers.advanced(by: strings.count).initialize(to: nil)
  }

  deinit {
    pointers.deallocate()
    bytes.deallocate()
  }
}
