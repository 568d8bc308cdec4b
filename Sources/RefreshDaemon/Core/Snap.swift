import RefreshEngine
import Varlink

/// The evidence that a process belongs to a Snap, which speaks for the app `snap.NAME`.
enum Snap {
  /// The start of a Snap's security tags, `snap.NAME.APP`, which name its profiles of AppArmor and its units.
  static let start = "snap."

  /// The confinement by a label of AppArmor; nil for another label, so that the cgroup must decide.
  ///
  /// A classic Snap has a cgroup as any Snap, but snapd only has its profile complain: it is as free as its user.
  static func confinement(byLabel label: String?) -> CallerConfinement? {
    // Other modules' labels have neither form: SELinux gives `user:role:type:level`.
    guard let label, label == "unconfined" || label.hasSuffix(")") else { return nil }
    guard label.hasPrefix(start), !label.hasSuffix(" (complain)") else { return CallerConfinement.none }
    return confinement(byTag: label[...])
  }

  /// The confinement by a text that starts with a security tag.
  static func confinement(byTag tag: Substring) -> CallerConfinement {
    let name = tag.dropFirst(start.count).prefix { $0 != "." }
    return AppID(start + name).map { .sandbox(.init($0.description)) } ?? .fromAll
  }
}
