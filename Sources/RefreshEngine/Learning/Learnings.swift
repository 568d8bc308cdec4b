import CMath

/// The learners that all apps share: the typical app, and how far the machine exceeds its budget.
public struct Learnings: Hashable, Sendable {
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
  public mutating func absorb(_ app: Learned, most: Double = .infinity) {
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
  mutating func absorb(_ app: Learned, of device: Learnings, share: Double) {
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
  func conclude(_ device: inout Learnings) {
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
