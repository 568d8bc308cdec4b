import Glibc

/// The bounds on what a server keeps for its clients.
///
/// A client that wants more costs itself: its connection is closed.
public struct Bounds: Sendable {
  /// The most bytes of one message, without its NUL; a longer one closes the connection.
  ///
  /// 1 MiB.
  public var messageBytes = 1 << 20
  /// The most connections in all.
  ///
  /// 512, well below the 1024 descriptors that a service has by default.
  ///
  /// Beyond it one of the newcomer's own gives way that is silent, or else one of the user with the most, in use or not.
  /// When none can give way, the newcomer is closed.
  public var connections = 512
  /// How many of them are for ``privileged`` users alone.
  public var reservedConnections = 32
  /// The users for whom there is always room: root and the server's own, unless set.
  public var privileged: Set<uid_t> = [0, getuid()]
  /// The most connections of one user; beyond it one of the same user gives way.
  ///
  /// 128. A connection with a call in flight or a disconnect action stays; when none can go, the newcomer is closed.
  public var connectionsPerUser = 128
  /// The most calls of one user that are told of something until their connections end; 64.
  public var watchesPerUser = 64
  /// The most bytes that wait for a slow reader.
  ///
  /// 1 MiB.
  ///
  /// A call is not taken up before the answers to those before it are sent, so only streams can fill it: a reader that
  /// falls further behind is disconnected. A single message may be longer, if nothing else is waiting.
  public var unsentBytes = 1 << 20

  /// The most bytes that all connections of one user keep here together: unfinished messages, calls of more than 4 KiB
  /// until they are over, and unsent answers.
  ///
  /// 16 MiB.
  ///
  /// The connection that goes beyond it is closed, unless it is the only one of its user that keeps anything here: one
  /// long answer always gets through.
  public var bytesPerUser = 16 << 20
  /// The most bytes that all connections together keep here, except those of ``privileged`` users.
  ///
  /// 32 MiB. Beyond it the connection that keeps most of the user that keeps most is closed.
  public var bytes = 32 << 20

  /// The defaults.
  public init() {}
}
