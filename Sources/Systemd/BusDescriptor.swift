import Glibc

/// A descriptor that came over the bus, open until this is released.
public final class BusDescriptor: Hashable, Sendable {
  /// The descriptor, closed on exec.
  public let number: Int32

  /// Takes a copy of a descriptor that belongs to a message; nil when the process can have no more.
  init?(copying descriptor: Int32) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { return nil }
    number = copy
  }

  deinit { close(number) }

  /// Whether both are the same copy.
  public static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }

  /// Hashes the copy's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
