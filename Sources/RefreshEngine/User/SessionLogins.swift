// Apps log in and out with the sessions of their owners, if the administrator wants it.

extension Limits {
  /// Whether sessions log the apps of a policy in and out; false for a held app, whose owner may be unknown.
  public func followsSessions(_ policy: Policy) -> Bool {
    followsSessions && Self.isPerson(policy.owner) && policy.unusable == nil
  }

  /// Whether a user is a person, who logs in and out, and not a system account.
  ///
  /// The ranges are systemd's (systemd.io, "Users, Groups, UIDs and GIDs on systemd Systems"): system accounts below 1000;
  /// dynamic users and `nobody` from 61184 on.
  private static func isPerson(_ uid: UInt32) -> Bool { uid >= 1000 && !(61_184...65_535).contains(uid) }
}

extension Engine {
  /// Applies what the sessions say of an app's owner.
  ///
  /// Only a change counts, and what they said is stored: a person's own `login` or `logout` holds until the next change,
  /// also over a restart.
  mutating func applyOwner(_ id: AppID, _ isPresent: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, apps[index].state.isOwnerPresent != isPresent
    else { return }
    changePhase(index, &turn) { app in
      (app.state.isOwnerPresent, app.state.isLoggedOut) = (isPresent, !isPresent)
    }
  }
}
