import CMath

/// Searches the wait until the next refresh that costs least.
///
/// The cost of a wait d is the sum of two terms. First, over all shorter waits, the chance that the user comes then × (the
/// age met + the future from fresh). Second, the chance that nobody came by d × (price × cost + the future from fresh). Not
/// opened: e^(−openings expected). Age met: the time passed − ∫ e^(−updates expected). So it weighs worth against price.
struct WaitSearch {
  /// The longest wait to weigh, in minutes: a day and a half.
  static let longest = 2160.0
  /// How many steps of a minute search the timeslots before and after the best timeslot.
  private static let fineSteps = 20

  /// The state of the search at a wait.
  private struct Waited {
    var wait = 0.0
    var unopened = 1.0
    var unchanged: Double
    /// The age in minutes that an opening now meets on average.
    var age: Double
    /// The cost of the openings until now.
    var opened = 0.0

    mutating func pass(_ step: Horizon.Step, _ future: Double) {
      let before = age
      age += step.minutes - unchanged * step.current
      unchanged *= step.unchanged
      opened += unopened * (1 - step.unopened) * ((before + age) / 2 + future)
      unopened *= step.unopened
      wait += step.minutes
    }
  }

  /// Finds the cheapest wait within two bounds.
  ///
  /// - Parameters:
  ///   - horizon: the expected openings and updates of the next days.
  ///   - start: the minute of the horizon's first day at which the wait begins.
  ///   - age: the age of the data, in minutes since the last sync.
  ///   - charge: the cost of a refresh, in minutes of age.
  ///   - notBefore: the shortest wait, in minutes.
  ///   - notAfter: the longest wait, in minutes.
  ///   - isFine: whether to search the best moment by the minute, and not only by the timeslot.
  /// - Returns: the wait in minutes, its cost in minutes of age, and the age at its end in minutes.
  static func best(
    _ horizon: Horizon, start: Double, age: Double, charge: Double, notBefore: Double, notAfter: Double = longest,
    isFine: Bool = false
  ) -> (wait: Double, cost: Double, age: Double) {
    let unchanged = exp(-horizon.rate * age)
    var waiting = Waited(unchanged: unchanged, age: age - (1 - unchanged) / horizon.rate)
    func cost(_ waited: Waited, _ future: Double) -> Double { waited.opened + waited.unopened * (charge + future) }
    func advance(_ waited: inout Waited, to end: Double) {
      while waited.wait < end, start + waited.wait < Double(Horizon.timeslots) * Use.timeslotMinutes {
        let minute = start + waited.wait
        let edge = Double(Horizon.timeslot(at: minute) + 1) * Use.timeslotMinutes - start
        let minutes = min(end, edge) - waited.wait
        waited.pass(horizon.step(from: minute, minutes: minutes), horizon.future(at: minute + minutes / 2))
      }
    }
    advance(&waiting, to: notBefore)
    var (best, before, previous) = (waiting, waiting, waiting)
    var least = cost(waiting, horizon.future(at: start + waiting.wait))
    var timeslot = Horizon.timeslot(at: start + waiting.wait)
    let first = Double(timeslot + 1) * Use.timeslotMinutes - start
    if first <= notAfter {
      advance(&waiting, to: first)
      timeslot += 1
      while true {
        let value = cost(waiting, horizon.future[timeslot])
        if value < least { (best, before, least) = (waiting, previous, value) }
        guard waiting.wait + Use.timeslotMinutes <= notAfter, timeslot < Horizon.timeslots - 1,
          cost(waiting, horizon.lowest) < least
        else { break }
        previous = waiting
        waiting.pass(horizon.steps[timeslot], (horizon.future[timeslot] + horizon.future[timeslot + 1]) / 2)
        timeslot += 1
      }
    }
    guard isFine, best.wait < longest else { return (best.wait, least, best.age) }
    let end = min(best.wait + Use.timeslotMinutes, notAfter)
    for _ in 0..<fineSteps where before.wait < end {
      advance(&before, to: min(before.wait + 1, end))
      let value = cost(before, horizon.future(at: start + before.wait))
      if value < least { (best, least) = (before, value) }
    }
    return (best.wait, least, best.age)
  }
}
