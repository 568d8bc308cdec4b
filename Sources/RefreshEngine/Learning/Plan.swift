/// When to refresh an app next, and every number that led to it.
public struct Plan: Hashable, Sendable {
  /// Minutes from the moment of planning to the refresh.
  public var wait: Double
  /// Minutes of age that a refresh at the moment of planning would spare.
  public var worth: Double
  /// Minutes of age that a refresh of this app must spare: the profile's price × the app's relative cost, and
  /// more while the app takes more than it may.
  public var price: Double
  /// Openings expected before the refresh.
  public var openingsExpected: Double
  /// Minutes of age that an opening at the planned moment would meet on average, were there no refresh.
  public var ageSpared: Double
  /// The minute of the day around which the app is usually opened next, after the refresh; nil if no time stands out.
  public var likelyOpening: Int?
  /// Whether no moment within the horizon is worth a refresh: the wait is then the ceiling, or the whole horizon.
  public var isDormant: Bool
  /// Whether the ceiling, and not the price, chose the moment.
  public var isForced: Bool
}
