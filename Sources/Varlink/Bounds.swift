import Glibc

/// The bounds on what a server keeps for its clients.
///
/// A client beyond a bound loses its own connection.
public struct Bounds: Sendable {
  /// The most bytes of a message without its NUL, 1 MiB; a longer message closes the connection.
  public var messageBytes = 1 << 20
  /// The most connections in all, 512: well below the 1024 descriptors that a service has by default.
  ///
  /// Beyond it, the server closes an idle connection of the newcomer's user, or else one of the user with the most. If none
  /// can be closed, it closes the newcomer.
  public var connections = 512
  /// How many of the connections only ``privileged`` users may have.
  public var reservedConnections = 32
  /// The users with reserved room: root and the server's own, unless set.
  public var privileged: Set<uid_t> = [0, getuid()]
  /// The most connections of a user, 128; beyond it, the server closes an idle connection of the same user.
  ///
  /// A connection with a call in flight or a disconnect action is not idle. If the user has no idle connection, the server
  /// closes the newcomer.
  public var connectionsPerUser = 128
  /// The most watches of a user, 64: calls that report events until their connections end.
  public var watchesPerUser = 64
  /// The most bytes that wait for a slow reader, 1 MiB.
  ///
  /// The server handles no call before it has sent the earlier answers, so only streams can reach this bound. It
  /// disconnects a reader that falls further behind. A single message may be longer, if nothing else is waiting.
  public var unsentBytes = 1 << 20

  /// The most bytes that the server keeps for all connections of a user, 16 MiB.
  ///
  /// Counts unfinished messages, calls of more than 4 KiB until they end, and unsent answers.
  ///
  /// The server closes a connection that exceeds the bound. The only connection of its user that keeps bytes may exceed it,
  /// so that one long answer always gets through.
  public var bytesPerUser = 16 << 20
  /// The most bytes that the server keeps for all connections, except those of ``privileged`` users; 32 MiB.
  ///
  /// Beyond it, the server closes the largest connection of the user with the most bytes.
  public var bytes = 32 << 20

  /// The defaults.
  public init() {}
}
