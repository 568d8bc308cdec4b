/// The habits of an app, as learnt or pinned in its file.
public struct Habits: Hashable, Sendable {
  /// When the app is expected to be opened.
  public var usage: Usage
  /// How often a day the source has new data.
  public var newDataPerDay: Double
  /// The cost of a refresh, relative to the machine's typical refresh.
  public var cost: Double
}
