import Glibc

/// The reason why a look at a path has no answer.
struct NoLook: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  init(errno code: Int32) { reason = String(cString: strerror(code)) }
}

/// The way to a path, with the rights of the app's owner.
enum OwnersPath {
  /// How many symbolic links may lead to a path, as in path_resolution(7).
  private static let mostLinks = 40

  /// A directory on the way.
  struct PathStep {
    let directory: OpenEntry
    /// The name that is looked up in it.
    let name: String
    /// Whether another entry of that name would lead elsewhere: it is a symbolic link, or does not exist.
    let isLoose: Bool
  }

  /// Opens a path one name after the other, each with the owner's rights; nil if it does not exist.
  ///
  /// Every name is looked up in an open directory, so that a path which is swapped meanwhile cannot bypass the modes.
  ///
  /// Calls `visit` with each directory in which a name is looked up. Throws if the owner may not search a directory, if
  /// too many symbolic links follow each other, or if the system cannot open a name.
  static func open(
    _ path: String, _ view: OwnersView, visit: (PathStep) -> Void = { _ in }
  ) throws(NoLook) -> OpenEntry? {
    let root = OpenEntry("/", in: AT_FDCWD, OpenEntry.place)
    guard let root else { throw NoLook(errno: errno) }
    var place = root
    var names = Array(path.split(separator: "/").reversed())
    var links = 0
    while let name = names.popLast() {
      guard place.kind == S_IFDIR else { return nil }
      guard view.maySearch(place.status) else {
        throw NoLook("the modes of a directory on the way to it keep its owner out")
      }
      guard let next = OpenEntry(String(name), in: place.descriptor, OpenEntry.place | O_NOFOLLOW) else {
        let code = errno
        visit(PathStep(directory: place, name: String(name), isLoose: true))
        guard code == ENOENT || code == ENOTDIR else { throw NoLook(errno: code) }
        return nil
      }
      visit(PathStep(directory: place, name: String(name), isLoose: next.kind != S_IFDIR))
      guard next.kind == S_IFLNK else {
        place = next
        continue
      }
      links += 1
      guard links <= mostLinks, let target = next.linkTarget else {
        throw NoLook("the symbolic links that lead to it have no end")
      }
      if target.hasPrefix("/") { place = root }
      names += target.split(separator: "/").reversed()
    }
    return place
  }
}
