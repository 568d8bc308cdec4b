/// Why a refresh starts.
public enum Trigger: String, Hashable, Sendable, CaseIterable {
  /// The interval of the phase has passed since the last start.
  case interval
  /// The app entered the foreground with data that was too old.
  case foreground
  /// A push asked for it.
  case push
  /// The last transfer of a session has ended.
  case transfer
  /// An earlier refresh failed in a way that is worth a retry.
  case retry
  /// It was missed while the machine or the daemon was off.
  case catchUp = "catch-up"
  /// Something changed in a folder that its file has watched.
  case change
  /// A person asked for it.
  case manual
  /// No refresh started: the app reported a sync that it made by itself.
  case reported
}

extension Trigger {
  /// Whether the clock asks, rather than something that happened.
  var isByTime: Bool { self == .interval || self == .catchUp }

  /// Whether a person, a push or a transfer session asks: a change of phase or an own sync does not end that request.
  var isAskedFor: Bool { self == .manual || self == .push || self == .transfer }

  /// Whether nobody waits for the refresh, so that it may come at a better time.
  var isDeferrable: Bool { isByTime || self == .retry || self == .change }

  /// Whether a change of phase voids a request of this kind.
  var endsWithPhase: Bool { isByTime || self == .foreground }
}
