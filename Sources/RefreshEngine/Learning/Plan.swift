/// The time of an app's next refresh, and every number that led to it.
public struct Plan: Hashable, Sendable {
  /// Minutes from the moment of planning to the refresh.
  public var wait: Double
  /// Minutes of age that a refresh at the moment of planning would spare.
  public var worth: Double
  /// The price, in minutes of age that a refresh must spare: the profile's price × the app's relative cost, and more while
  /// the app takes more than it may.
  public var price: Double
  /// The openings to expect before the refresh.
  public var openingsExpected: Double
  /// The age in minutes that an opening at the planned moment would meet on average, without the refresh.
  public var ageSpared: Double
  /// The minute of the day around which the next opening after the refresh is likely; nil if no time stands out.
  public var likelyOpening: Int?
  /// Whether no moment within the horizon is worth a refresh: then the wait is the ceiling, or the whole horizon.
  public var isDormant: Bool
  /// Whether the ceiling, and not the price, chose the moment.
  public var isForced: Bool
}
