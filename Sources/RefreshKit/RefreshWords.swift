import RefreshAPI

/// Why a refresh starts.
public enum RefreshTrigger: Hashable, Sendable, CaseIterable {
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
  case catchUp
  /// A person asked for it.
  case manual
  /// Something that a later refreshd has and this library has no word for.
  case other

  init(_ trigger: Wire.Trigger?) {
    self =
      switch trigger {
      case .interval: .interval
      case .foreground: .foreground
      case .push: .push
      case .transfer: .transfer
      case .retry: .retry
      case .catchUp: .catchUp
      case .manual: .manual
      case nil: .other
      }
  }
}

/// How a refresh ended.
public enum RefreshOutcome: Hashable, Sendable, CaseIterable {
  /// There was something new.
  case newData
  /// All went well and nothing was new.
  case noData
  /// It did not do its work.
  case failed

  init(_ outcome: Wire.Outcome) {
    self =
      switch outcome {
      case .newData: .newData
      case .noData: .noData
      case .failed: .failed
      }
  }

  /// As the daemon is told it.
  var onTheWire: Wire.Outcome {
    switch self {
    case .newData: .newData
    case .noData: .noData
    case .failed: .failed
    }
  }
}

/// Where an app is by its signals and leases.
public enum RefreshPhase: Hashable, Sendable, CaseIterable {
  /// The user looks at it: the foreground interval holds.
  case foreground
  /// Nobody looks at it: the background interval holds.
  case background
  /// Logged out: nothing is refreshed until `login`.
  case loggedOut

  init(_ phase: Wire.Phase) {
    self =
      switch phase {
      case .foreground: .foreground
      case .background: .background
      case .loggedOut: .loggedOut
      }
  }
}
