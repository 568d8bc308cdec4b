import CMath

/// The cost of waiting with the next refresh, at each of some waits.
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
  /// The cost of a refresh, in minutes of age.
  let charge: Double

  private let changing: Double
  private let alreadyOld: Double
  private let openedBefore: Double
  private let updatedBefore: Double

  /// How far the waiting has come: numbers only, because it is copied at every candidate.
  private struct Waited {
    var wait = 0.0
    var unopened = 1.0
    var unchanged = 1.0
    var constant = 0.0
    /// The cost of the openings until now.
    var opened = 0.0
  }

  /// Begins to wait with data of an age, in minutes since the last sync.
  private init(_ horizon: Horizon, start: Double, age: Double, charge: Double) {
    self.horizon = horizon
    self.start = start
    self.charge = charge
    changing = exp(-horizon.rate * age)
    alreadyOld = age - (1 - changing) / horizon.rate
    openedBefore = horizon.openings(until: start)
    updatedBefore = horizon.updates(until: start)
  }

  /// The cost of a refresh after some waiting.
  private func cost(_ waited: Waited) -> Double {
    waited.opened + waited.unopened * (charge + horizon.future(at: start + waited.wait))
  }

  /// Waits on until `next`, in minutes since the start.
  private func advance(_ waited: inout Waited, to next: Double) {
    guard next > waited.wait else { return }
    let middle = (next + waited.wait) / 2
    let updates = horizon.updates(until: start + next) - updatedBefore
    let unchanged = exp(-updates)
    let expected = log(waited.unchanged) + updates
    let integral =
      (next - waited.wait)
      * (expected > 1e-6 && waited.unchanged > 0 ? (waited.unchanged - unchanged) / expected : waited.unchanged)
    let age = alreadyOld + middle - changing * (waited.constant + integral / 2)
    let unopened = exp(openedBefore - horizon.openings(until: start + next))
    waited.opened += (waited.unopened - unopened) * (age + horizon.future(at: start + middle))
    waited.constant += integral
    waited.unchanged = unchanged
    waited.unopened = unopened
    waited.wait = next
  }

  /// Minutes of age that an opening now meets on average.
  private func age(_ waited: Waited) -> Double { alreadyOld + waited.wait - changing * waited.constant }

  /// The wait that costs least, within two bounds, with its cost and the age that is met at its end.
  static func best(
    _ horizon: Horizon, start: Double, age: Double, charge: Double, notBefore: Double, notAfter: Double = longest,
    isFine: Bool = false
  ) -> (wait: Double, cost: Double, age: Double) {
    let search = WaitSearch(horizon, start: start, age: age, charge: charge)
    var waiting = Waited()
    search.advance(&waiting, to: notBefore)
    var (best, before, previous) = (waiting, waiting, waiting)
    var least = search.cost(waiting)
    var after: Double?
    for candidate in candidates where candidate > notBefore && candidate <= notAfter {
      search.advance(&waiting, to: candidate)
      let cost = search.cost(waiting)
      if cost < least {
        (best, before, after, least) = (waiting, previous, nil, cost)
      } else if after == nil {
        after = candidate
      }
      previous = waiting
    }
    if isFine, let after { (best, least) = search.best(from: before, until: after) }
    return (best.wait, least, search.age(best))
  }

  /// The best of ``fineSteps`` further waits until `end`, and its cost.
  private func best(from begin: Waited, until end: Double) -> (Waited, Double) {
    var (waiting, best, least) = (begin, begin, cost(begin))
    let step = max((end - begin.wait) / Self.fineSteps, 1)
    for next in stride(from: begin.wait + step, through: end, by: step) {
      advance(&waiting, to: next)
      let cost = cost(waiting)
      if cost < least { (best, least) = (waiting, cost) }
    }
    return (best, least)
  }
}
