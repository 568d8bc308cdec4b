/// How the processes of one task ended, as the launcher saw it.
public struct TaskEnd: Hashable, Sendable {
  /// The end of the task's main process.
  public enum Exit: Hashable, Sendable {
    /// It exited with this code.
    case exited(Int32)
    /// A signal ended it.
    case signalled(Int32)
    /// It was never started; the reason in one sentence.
    case notStarted(String)
    /// It was never started, because the machine had no process or memory to spare; the reason in one sentence.
    case noMeans(String)
    /// Memory ran out.
    case outOfMemory
    /// systemd stopped the process at the deadline, while no daemon ran.
    case timedOut
    /// The attached process that performed the refresh is gone, or no longer answers.
    case lostClient
    /// The attached process that was to perform the refresh left at once, because it was about to end anyway.
    case notTaken
  }

  /// How the main process ended.
  public var exit: Exit
  /// Whether anything was printed, on standard output or standard error.
  public var printed: Bool
  /// Whether the path of ``NewData/changed(path:)`` changed while the task ran; nil if unknown.
  public var changed: Bool?
  /// User and system time of the task's processes, as `wait4(2)` counts them.
  public var cpu: Duration
  /// The last printed line, without its end and cut to 200 bytes; empty if none.
  public var message: String
  /// The bytes that the task's processes sent and received over the network; nil if they were not counted.
  public var bytes: Int64?
  /// How long it ran, if its end is reported late; nil for until now.
  public var duration: Duration?

  /// Makes an end from its parts.
  public init(
    exit: Exit, printed: Bool = false, changed: Bool? = false, cpu: Duration = .zero, message: String = "",
    bytes: Int64? = nil, duration: Duration? = nil
  ) {
    self.exit = exit
    self.printed = printed
    self.changed = changed
    self.cpu = cpu
    self.message = message
    self.bytes = bytes
    self.duration = duration
  }
}
