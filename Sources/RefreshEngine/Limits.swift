/// The bounds that the administrator sets for all apps, in `refreshd.toml`.
public struct Limits: Hashable, Sendable {
  /// The shortest foreground interval, and what `minimum` means there; 5 s by default.
  public var foregroundFloor: Duration
  /// The shortest background interval, and what `minimum` means there; 15 min by default, as on iOS and in WorkManager.
  public var backgroundFloor: Duration
  /// The longest deadline that an app may ask for; 10 min by default.
  public var deadlineCap: Duration
  /// How many refreshes may run at once, and one more of a user without any; nil, the default, for no bound.
  ///
  /// A refresh that has run for over a minute counts against its own user only, up to four times this bound in all.
  /// The daemon sets it to the number of processors unless the file says otherwise.
  public var maxConcurrent: Int?
  /// How many refreshes of one user's apps may run at once; nil, the default, for no bound but ``maxConcurrent``.
  public var maxConcurrentPerUser: Int?
  /// Whether an unknown condition counts as met; yes by default.
  public var unknownIsMet = true
  /// The effect of a power-saver profile; it makes refreshes dearer by default.
  public var powerSaver = PowerSaver.dearer
  /// The budget and the price of refreshes; `balanced` by default.
  public var profile = Profile.balanced
  /// For how long nothing deferrable starts after boot and resume; 20 s by default.
  public var settle = Duration.seconds(20)
  /// The bounds of transfers.
  public var transfers = TransferLimits()
  /// The network on which the bridge may be connected to its sources; any by default.
  public var pushNetwork = NetworkConstraint.any
  /// Whether apps log in and out with the sessions of their owners; no by default.
  public var followsSessions = false

  /// Makes limits with the default values.
  public init(
    foregroundFloor: Duration = .seconds(5), backgroundFloor: Duration = .minutes(15),
    deadlineCap: Duration = .minutes(10)
  ) {
    self.foregroundFloor = foregroundFloor
    self.backgroundFloor = backgroundFloor
    self.deadlineCap = deadlineCap
  }
}

/// The effect of the machine's power-saver profile on background refreshes.
public enum PowerSaver: String, Hashable, Sendable, CaseIterable {
  /// Nothing.
  case ignore
  /// A refresh must be worth four times as much.
  case dearer
  /// Nothing deferrable starts in the background.
  case stop
}
