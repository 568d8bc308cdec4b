/// An app as the desktops of its owner show it, all of them together.
public enum Presence: UInt8, Hashable, Sendable, CaseIterable, Comparable {
  /// No desktop has said anything about the app.
  case unknown
  /// It does not run.
  case ended
  /// It runs, and the user does not look at it.
  case running
  /// The user looks at it.
  case front

  /// Whether the first presence is less visible than the second.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

// An app that sends no signals follows its presence on desktops. Signals win: after `foreground`, `background`,
// `terminated` or a lease of `foreground`, the presence is ignored until desktops see the app start anew.

extension App {
  /// How long a desktop must show an app in front before that counts as an opening: shorter is a user passing by.
  private static let shortestOpening = Duration.seconds(2)

  /// When the presence counts as an opening, boot clock; nil while the app is not in front, or once it has counted.
  var countsAsOpenedAt: Instant? { openedAt.map { $0 + Self.shortestOpening } }
}

extension Engine {
  /// Applies the presence of an app on desktops.
  mutating func applyPresence(_ id: AppID, _ presence: Presence, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, apps[index].presence != presence else { return }
    changePhase(index, &turn) { app in
      let before = app.presence
      app.presence = presence
      if presence == .ended, before >= .running {
        app.tellsPhase = false
        if app.policy?.isTerminatedOnExit == true { app.state.isTerminated = true }
      }
      if presence >= .running, before <= .ended {
        app.state.isTerminated = false
        if before == .ended { app.tellsPhase = false }
      }
    }
  }

  /// Learns an opening that a desktop has shown for long enough.
  mutating func noteOpening(_ index: AppIndex, _ turn: inout Turn) {
    guard let end = apps[index].countsAsOpenedAt, end <= turn.now else { return }
    let begun = apps[index].openedAt
    apps[index].openedAt = nil
    learnOpening(of: index, observedAt: begun, &turn)
  }
}
