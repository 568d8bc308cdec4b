import CMath

/// The state that all apps share, which outlives the daemon and the boot.
public struct DeviceState: Hashable, Sendable {
  /// The user's pause of all apps; nil while there is none.
  public var pause: Pause?
  /// The learners that all apps share.
  public var learnings: DeviceHabits
  /// The local day up to which the nights have passed, as ``LocalTime/day`` counts; nil before the first.
  public var day: Int?

  /// The state of a new device.
  public init(pause: Pause? = nil, learnings: DeviceHabits = DeviceHabits(budget: Budget(profile: .balanced))) {
    self.pause = pause
    self.learnings = learnings
  }

  /// The state with its instants changed, as the store changes them after a reboot.
  public func moved(_ change: (Instant) -> Instant) -> DeviceState {
    var state = self
    if case .until(let end) = pause { state.pause = .until(change(end)) }
    return state
  }
}

/// The learners that all apps share: the typical app, and how far the machine exceeds its budget.
public struct DeviceHabits: Hashable, Sendable {
  /// The budget in force.
  public private(set) var budget: Budget
  /// The factor of the price while a power-saver profile is on.
  var saverFactor = 1.0
  /// Updates a minute of the machine's typical app: the geometric mean over its apps, 6 a day at first.
  public internal(set) var typicalRate = 6 / LocalTime.minutesOfDay
  /// The use that the machine's apps have in common.
  var use = SharedUse()
  /// The cost of the typical refresh, as ``Cost`` counts it: geometric means over the apps; 0 for unknown.
  var typicalCost = SIMD3<Float>(0, 0, 0)
  /// The factor of the profile's price: 1, and more while the apps together take more than the budget.
  var scarcity: Float = 1
  /// Minutes by which local time was ahead of UTC when the plans in force were made; nil before the first.
  var zoneOffset: Int32?
  /// How many apps share the budget.
  var sharers: UInt32 = 0

  /// The means of the present night.
  private var night = Night()

  /// The price: minutes of age that a refresh of cost 1 must spare.
  ///
  /// Within the budget it follows from the profile alone, whatever other apps do or did.
  public var price: Double { budget.price * Double(scarcity) * saverFactor }

  /// Makes learnings that know nothing yet.
  public init(budget: Budget) { self.budget = budget }

  /// The part of the budget that a refresh takes: 1, or more if it runs long or moves many bytes over a metered network.
  func load(runSeconds: Double, meteredBytes: Double) -> Double {
    max(
      1, runSeconds / Budget.secondsPerRefresh, meteredBytes * Double(max(sharers, 1)) / Budget.meteredBytesPerRefresh)
  }

  /// Puts another budget in force.
  public mutating func change(to budget: Budget) { self.budget = budget }

  /// Begins a night.
  public mutating func beginNight() { night = Night() }

  /// Adds an app to the night's means.
  ///
  /// `most` is how many refreshes a day the app's interval allows. Others do not get the app's unused share of the
  /// budget.
  public mutating func absorb(_ app: AppHabits, most: Double = .infinity) {
    night.absorb(app, of: self, share: min(budget.refreshesPerAppAndDay, most))
  }

  /// Ends a night: puts its means in force, and raises or lowers the price as the apps together took more or less than the
  /// budget.
  public mutating func endNight() {
    scarcity = Price.step(scarcity, over: night.taken.sum / max(night.taken.shares, 1e-9))
    night.conclude(&self)
    night = Night()
  }
}

/// The part of the budget that the apps took; only lately refreshed apps count.
struct Taken: Hashable, Sendable {
  var apps: UInt32 = 0
  /// Refreshes a day of all apps; each app counts up to ``Price/countedShares``.
  var sum = 0.0
  /// Refreshes a day that the budget allows them.
  var shares = 0.0
}

/// The means over the apps of a machine while a night goes through them.
struct Night: Hashable, Sendable {
  private var apps = 0.0
  private var logRates = 0.0
  private var use: SharedUse.Sums?
  private var measured = 0.0
  private var logCosts = SIMD3<Double>(0, 0, 0)
  private(set) var taken = Taken()

  /// Refreshes a day below which an app gets no share of the budget: about one a month.
  private static let leastTaken = 0.03

  /// The least value in the geometric mean, for an app that takes nothing: a millisecond, or a byte.
  static let leastCost = 1e-3

  /// Adds an app to the means.
  mutating func absorb(_ app: AppHabits, of device: DeviceHabits, share: Double) {
    let taken = Double(app.spending.meanTonight)
    if taken > Self.leastTaken {
      self.taken.apps += 1
      self.taken.sum += min(taken, share * Price.countedShares)
      self.taken.shares += share
    }
    apps += 1
    logRates += log(app.newData.mean(typical: device.typicalRate))
    use = use ?? SharedUse.Sums()
    use?.absorb(app.use, of: device.use)
    if app.measuredCost.isKnown {
      measured += 1
      for index in 0..<3 { logCosts[index] += log(Double(app.measuredCost.means[index]) + Self.leastCost) }
    }
  }

  /// Puts the means in force.
  func conclude(_ device: inout DeviceHabits) {
    device.sharers = taken.apps
    guard apps > 0 else { return }
    device.typicalRate = exp(logRates / apps)
    if let use { device.use = use.learnt(from: device.use) }
    for index in 0..<3 {
      let mean = measured > 0 ? exp(logCosts[index] / measured) - Self.leastCost : 0
      device.typicalCost[index] = mean > Self.leastCost / 1000 ? Float(mean) : 0
    }
  }
}

/// The use that the machine's apps share: the expectation for an app until its own openings say otherwise.
struct SharedUse: Hashable, Sendable {
  /// The fixed part of ``weights``, the same on any machine.
  private static let kept = 0.2

  /// The shape of the typical day, a share for each half hour.
  ///
  /// Before anything is seen, a tenth as many openings are expected from midnight to 6:00 as at any other time.
  var pool: [Float] = {
    let weights = (0..<Use.halfHours).map { Float($0 < 12 ? 0.1 : 1) }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }()
  /// The ways in which apps are opened.
  var patterns = Patterns()
  /// The weights of ``HabitModels`` for an app without openings, learnt from the machine's other apps.
  var weights = HabitModels.before.map { Float($0) }

  /// The sums over the apps of a night.
  struct Sums: Hashable, Sendable {
    private var shares = [Float](repeating: 0, count: Use.halfHours)
    private var patterns = Patterns.Sums()
    private var weights = [Double](repeating: 0, count: HabitModels.count)
    private var apps: Float = 0

    /// Pseudo-openings of an app in the pool, so that an app with a single opening does not count in full.
    private static let doubt: Float = 2

    /// Adds an app.
    mutating func absorb(_ use: Use, of shared: SharedUse) {
      apps += 1
      let openings = use.ofAllDays
      let total = use.total
      for half in 0..<Use.halfHours { shares[half] += Float(openings[half]) / (total + Self.doubt) }
      patterns.absorb(openings, of: shared.patterns)
      guard let own = use.learntWeights else { return }
      let weight = Double(total / (total + 1))
      for index in own.indices { weights[index] += weight * own[index] }
    }

    /// The shared use after the night.
    func learnt(from shared: SharedUse) -> SharedUse {
      var learnt = shared
      let raw = shares.map { $0 / max(apps, 1) + 1e-4 }
      let count = Use.halfHours
      let smooth = (0..<count).map { (2 * raw[$0] + raw[($0 + count - 1) % count] + raw[($0 + 1) % count]) / 4 }
      let sum = smooth.reduce(0, +)
      learnt.pool = smooth.map { $0 / sum }
      learnt.patterns = patterns.learnt(from: shared.patterns, pool: learnt.pool)
      let all = weights.reduce(0, +)
      learnt.weights = zip(HabitModels.before, weights).map { before, own in
        all > 0 ? Float(SharedUse.kept * before + (1 - SharedUse.kept) * own / all) : Float(before)
      }
      return learnt
    }
  }
}

/// The refreshes, run time and metered bytes that a machine may spend.
public struct Budget: Hashable, Sendable {
  /// Refreshes an app and day, on average over the apps that are planned.
  public var refreshesPerAppAndDay: Double
  /// Minutes of age that a refresh of cost 1 must spare.
  public var price: Double
  /// Seconds that a refresh may run on average within the budget: a third of the default deadline.
  public static let secondsPerRefresh = 10.0
  /// Bytes over metered connections a day for all apps, for each refresh an app and day of the budget: 10 MB.
  ///
  /// So `balanced` takes at most 1.5 GB a month, half of a small data plan.
  public static let meteredBytesPerRefresh = 10e6

  /// The budget of a profile: 12, 5 or 2 refreshes an app and day.
  public init(profile: Profile) {
    refreshesPerAppAndDay = profile.refreshesPerAppAndDay
    price = profile.price
  }
}

/// How much this machine may spend on fresh apps: the budget, and the price.
public enum Profile: String, Hashable, Sendable, CaseIterable {
  /// 12 refreshes an app and day: for a machine on mains power.
  case fresh
  /// 5 refreshes an app and day.
  case balanced
  /// 2 refreshes an app and day: for a small battery or a dear network.
  case thrifty

  /// Refreshes an app and day, on average over the apps that are planned.
  public var refreshesPerAppAndDay: Double {
    switch self {
    case .fresh: 12
    case .balanced: 5
    case .thrifty: 2
    }
  }

  /// The price: the least minutes of age that a refresh must spare, so that the budget is a bound and not a target.
  ///
  /// Measured: at this price generated fleets take about the budget, and people of habit take less, because they need less.
  var price: Double {
    switch self {
    case .fresh: 2
    case .balanced: 10.5
    case .thrifty: 100
    }
  }
}
