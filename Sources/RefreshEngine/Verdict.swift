/// The engine's judgement about an app at an instant; nothing else judges.
///
/// The scheduler starts exactly the apps that are `ready`, and `refreshctl` prints the same value.
public enum Verdict: Hashable, Sendable {
  /// It starts now, by this trigger.
  case ready(Trigger)
  /// Nothing asks for a refresh before this instant, boot clock.
  case notDue(until: Instant)
  /// The holds that keep it from a refresh, however old its data is.
  case held([Hold])
  /// It guards a unit, and nothing keeps the unit from running.
  case clear
  /// It is being refreshed.
  case refreshing(RefreshID)
}
