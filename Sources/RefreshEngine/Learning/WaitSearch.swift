import CMath

/// What it costs to wait with the next refresh, at each of some waits (planning.md, 2.3).
///
/// The cost of waiting d: over shorter waits, the chance that the user comes then × (the age met + the future from
/// fresh), plus the chance that nobody came by d × (price × cost + the future from fresh). Not opened: e^(−openings
/// expected). Age met: the time passed − ∫ e^(−updates expected).
struct WaitSearch {
  /// The longest wait that is weighed, in minutes: a day and a half.
  static let longest = 2160.0
  /// Waits that are weighed, in minutes: by ten to two hours, by thirty to a day, by sixty to a day and a half.
  static let candidates: [Double] =
    stride(from: 0, through: 120, by: 10).map { $0 } + stride(from: 150, through: 1440, by: 30).map { $0 }
    + stride(from: 1500, through: 2160, by: 60).map { $0 }
  /// Steps in which the time between the candidates before and after the best one is gone through again.
  ///
  /// They are of a minute or two where the next opening is near. Measured: it gains two to eight tenths
  /// of a percent of the score, and twice as many steps gain nothing more.
  static let fineSteps = 12.0

  let horizon: Horizon
  /// Minute of the horizon's first day at which the waiting begins.
  let start: Double
  /// What a refresh costs, in minutes of age.
  let charge: Double

  private var wait = 0.0
  private var unopened = 1.0
  private var unchanged = 1.0
  private var constant = 0.0
  private let changing: Double
  private let alreadyOld: Double
  private let openedBefore: Double
  private let updatedBefore: Double
  /// What the openings until now cost.
  private var opened = 0.0

  /// Begins to wait with data of an age, in minutes since the last sync.
  init(_ horizon: Horizon, start: Double, age: Double, charge: Double) {
    self.horizon = horizon
    self.start = start
    self.charge = charge
    changing = exp(-horizon.rate * age)
    alreadyOld = age - (1 - changing) / horizon.rate
    openedBefore = horizon.openings(until: start)
    updatedBefore = horizon.updates(until: start)
  }

  /// What it costs to refresh now, after the waiting so far.
  var cost: Double { opened + unopened * (charge + horizon.future(at: start + wait)) }

  /// Waits on until `next`, in minutes since the start.
  mutating func advance(to next: Double) {
    guard next > wait else { return }
    let middle = (next + wait) / 2
    let updates = horizon.updates(until: start + next) - updatedBefore
    let unchangedThen = exp(-updates)
    let expected = log(unchanged) + updates
    let integral =
      (next - wait) * (expected > 1e-6 && unchanged > 0 ? (unchanged - unchangedThen) / expected : unchanged)
    let age = alreadyOld + middle - changing * (constant + integral / 2)
    let unopenedThen = exp(openedBefore - horizon.openings(until: start + next))
    opened += (unopened - unopenedThen) * (age + horizon.future(at: start + middle))
    constant += integral
    unchanged = unchangedThen
    unopened = unopenedThen
    wait = next
  }

  /// Minutes of age that an opening now meets on average.
  var age: Double { alreadyOld + wait - changing * constant }

  /// The wait that costs least, within two bounds, with its cost and the age that is met at its end.
  static func best(
    _ horizon: Horizon, start: Double, age: Double, charge: Double, notBefore: Double, notAfter: Double = longest,
    isFine: Bool = false
  ) -> (wait: Double, cost: Double, age: Double) {
    var waiting = WaitSearch(horizon, start: start, age: age, charge: charge)
    waiting.advance(to: notBefore)
    var (best, before, previous) = (waiting, waiting, waiting)
    var after: Double?
    for candidate in candidates where candidate > notBefore && candidate <= notAfter {
      waiting.advance(to: candidate)
      if waiting.cost < best.cost {
        (best, before, after) = (waiting, previous, nil)
      } else if after == nil {
        after = candidate
      }
      previous = waiting
    }
    if isFine, let after { best = before.best(until: after) }
    return (best.wait, best.cost, best.age)
  }

  /// The best of ``fineSteps`` further waits until `end`.
  private func best(until end: Double) -> WaitSearch {
    var (waiting, best) = (self, self)
    let step = max((end - wait) / Self.fineSteps, 1)
    for next in stride(from: wait + step, through: end, by: step) {
      waiting.advance(to: next)
      if waiting.cost < best.cost { best = waiting }
    }
    return best
  }
}
