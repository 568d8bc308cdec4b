import Glibc

/// A descriptor that came over the bus; it stays open until this object is released.
public final class BusDescriptor: Hashable, Sendable {
  /// The descriptor, which is closed on exec.
  public let number: Int32

  /// Copies a descriptor of a message; nil when the process has no descriptor left.
  init?(copying descriptor: Int32) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { return nil }
    number = copy
  }

  deinit { close(number) }

  /// Whether both are the same copy.
  public static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }

  /// Hashes the identity of the copy.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
