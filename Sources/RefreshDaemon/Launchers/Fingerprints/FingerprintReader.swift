import RefreshConfig
import Systemd

/// Looks at the paths of `new_data = "changed:PATH"`; ``FingerprintReader`` looks at the real paths.
protocol PathLooks: AnyObject {
  /// The silent paths, each in a few words.
  var overdue: [String] { get }

  /// Takes the fingerprint of a path as its owner sees it, and calls `receive` with it later.
  ///
  /// `bound` is the longest time until the answer.
  func look(at path: String, as owner: Owner, within bound: Duration, receive: @escaping (PathLook) -> Void)
}

/// Takes fingerprints of paths on threads, and answers on the loop within a bound.
final class FingerprintReader: PathLooks {
  /// The longest time that a look may take.
  static let longest = OwnersLooks<PathLook>.longest

  private let looks: OwnersLooks<PathLook>
  private let look: @Sendable (String, Owner, TreeWalk.WalkBounds) -> PathLook

  /// Makes a reader that answers on the loop.
  ///
  /// `look` looks at a path; a test gives a look that hangs.
  init(
    on loop: EventLoop,
    look: @escaping @Sendable (String, Owner, TreeWalk.WalkBounds) -> PathLook = { path, owner, bounds in
      TreeWalk.look(at: path, as: owner, within: bounds)
    }
  ) throws {
    self.look = look
    looks = try OwnersLooks(on: loop) { .unknown($0) }
  }

  var overdue: [String] { looks.overdue }

  /// Calls `receive` in a later turn of the loop; the bound is never longer than ``longest``.
  func look(at path: String, as owner: Owner, within bound: Duration, receive: @escaping (PathLook) -> Void) {
    looks.look(at: path, as: owner, within: bound, by: { [look] in look(path, owner, $0) }, receive: receive)
  }
}
