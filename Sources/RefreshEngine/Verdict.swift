/// The engine's judgement about an app at an instant; nothing else judges.
///
/// The scheduler starts exactly the apps that are `ready`, and `refreshctl` prints the same value.
public enum Verdict: Hashable, Sendable {
  /// It starts now.
  case ready(Due)
  /// Its next refresh is not due yet.
  case notDue(Due)
  /// The holds that keep it from a refresh, however old its data is; `due` is nil if nothing asks for one.
  case held([Hold], due: Due? = nil)
  /// It guards a unit, and nothing keeps the unit from running.
  case clear
  /// It is being refreshed.
  case refreshing(RefreshID)
}

extension Verdict {
  /// The holds; empty without holds.
  public var holds: [Hold] { if case .held(let holds, _) = self { holds } else { [] } }

  /// The next refresh that the verdict is about; nil if nothing asks for one, for a guard, and while one runs.
  public var due: Due? {
    switch self {
    case .ready(let due), .notDue(let due): due
    case .held(_, let due): due
    case .clear, .refreshing: nil
    }
  }
}
