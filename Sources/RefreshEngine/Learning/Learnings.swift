import CMath

/// The learners that all apps share: the price of a refresh, and the typical app.
public struct Learnings: Hashable, Sendable {
  /// The budget in force.
  public var budget: Budget
  /// Minutes of age that a refresh of cost 1 must spare.
  public internal(set) var price: Double
  /// Updates a minute of the machine's typical app: the geometric mean over its apps, 6 a day at first.
  public internal(set) var typicalRate = 6 / LocalTime.minutesOfDay
  /// The shape of use of all apps, a share for each half hour.
  var pool = [Float](repeating: 1 / Float(Use.halfHours), count: Use.halfHours)
  /// The cost of the typical refresh, as ``Cost`` counts it: geometric means over the apps; 0 for not known.
  var typicalCost = SIMD3<Float>(0, 0, 0)
  /// Nights that the price was steered.
  var nights: UInt32 = 0

  /// The spending since the last night.
  var spending = Spending()
  /// The means of the night that is under way.
  private var night = Night()

  /// The price at first is this by the square of the budget, in minutes.
  static let firstPrice = 300.0

  /// Knows nothing yet.
  public init(budget: Budget) {
    self.budget = budget
    price = Self.firstPrice / (budget.refreshesPerAppAndDay * budget.refreshesPerAppAndDay)
  }

  /// Counts a background refresh of an adaptive app.
  public mutating func refreshed(runSeconds: Double, meteredBytes: Double) {
    spending.refreshes += 1
    spending.runSeconds += max(runSeconds, 0)
    spending.meteredBytes += max(meteredBytes, 0)
  }

  /// Puts another budget in force: the price is what it would be had the machine begun with it.
  public mutating func change(to budget: Budget) {
    let ratio = self.budget.refreshesPerAppAndDay / budget.refreshesPerAppAndDay
    self.budget = budget
    guard ratio != 1 else { return }
    price = min(max(price * ratio * ratio, Price.least), Price.most)
    nights = 0
  }

  /// Begins a night.
  public mutating func beginNight() { night = Night() }

  /// Takes an app into the night's means.
  public mutating func absorb(_ app: Learned) { night.absorb(app, typicalRate: typicalRate) }

  /// Ends a night: its means are in force, and the price is steered by what the day took.
  ///
  /// The price × (refreshes + 1) / (budgeted + 1), within ½ and 2, to a power that falls from 1 to ¼ with the nights. For
  /// refreshes that run longer than ``Budget/secondsPerRefresh`` on average, their run time by that counts in their place;
  /// the same ratio for the bytes over metered connections decides where it is the larger one.
  ///
  /// - Parameters:
  ///   - apps: how many apps are planned.
  ///   - refreshes: how many refreshes they may have in a day; nil for what the budget gives each. It is less where
  ///     intervals are long: what an app cannot use of the budget is not for the others to spend.
  public mutating func endNight(apps: Int, refreshes: Double? = nil) {
    nights = min(nights, .max - 1) + 1
    let budgeted = refreshes ?? budget.refreshesPerAppAndDay * Double(apps)
    price *= Price.step(spending, budget: budget, refreshes: budgeted, night: Int(nights))
    price = min(max(price, Price.least), Price.most)
    spending = Spending()
    night.conclude(&self)
    night = Night()
  }
}

/// The spending of a day's refreshes.
struct Spending: Hashable, Sendable {
  /// Background refreshes of adaptive apps.
  var refreshes: UInt32 = 0
  /// Seconds that they ran.
  var runSeconds = 0.0
  /// Bytes over metered connections.
  var meteredBytes = 0.0
}

/// The means over the apps of a machine while a night goes through them.
struct Night: Hashable, Sendable {
  private var apps = 0.0
  private var logRates = 0.0
  private var shares: [Float] = []
  private var measured = 0.0
  private var logCosts = SIMD3<Double>(0, 0, 0)

  /// Pseudo-openings of an app in the pool, so that one that was opened once does not count in full.
  static let doubt: Float = 2

  /// The least value in the geometric mean, for an app that takes nothing: a millisecond, or a byte.
  static let leastCost = 1e-3

  /// Takes an app in.
  mutating func absorb(_ app: Learned, typicalRate: Double) {
    if shares.isEmpty { shares = [Float](repeating: 0, count: Use.halfHours) }
    apps += 1
    logRates += log(app.newData.mean(typical: typicalRate))
    let total = app.use.total + Self.doubt
    for half in 0..<Use.halfHours {
      shares[half] += Float(app.use.openings[half] + app.use.openings[half + Use.halfHours]) / total
    }
    if app.measuredCost.isKnown {
      measured += 1
      for index in 0..<3 { logCosts[index] += log(Double(app.measuredCost.means[index]) + Self.leastCost) }
    }
  }

  /// Puts the means in force.
  func conclude(_ device: inout Learnings) {
    guard apps > 0 else { return }
    device.typicalRate = exp(logRates / apps)
    let raw = shares.map { $0 / Float(apps) + 1e-4 }
    let count = Use.halfHours
    let smooth = (0..<count).map { (2 * raw[$0] + raw[($0 + count - 1) % count] + raw[($0 + 1) % count]) / 4 }
    let sum = smooth.reduce(0, +)
    device.pool = smooth.map { $0 / sum }
    for index in 0..<3 {
      let mean = measured > 0 ? exp(logCosts[index] / measured) - Self.leastCost : 0
      device.typicalCost[index] = mean > Self.leastCost / 1000 ? Float(mean) : 0
    }
  }
}
