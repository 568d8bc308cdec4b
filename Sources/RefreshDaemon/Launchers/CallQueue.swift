import Systemd

/// The calls to a service manager whose answers are awaited: so many at once, the others in turn.
///
/// dbus-daemon refuses a call of who awaits 128 answers already (`max_replies_per_connection`, dbus-daemon(1)), as would
/// happen when two hundred tasks start at once. Thread-confined, as the bus is.
final class CallQueue {
  /// The most at once: far from what the bus allows, because there are other calls on the connection.
  private static let bound = 32

  /// Makes the call, when it is its turn, and has its answer told; nil when there is nothing to be asked any more.
  typealias Begin = (_ tell: @escaping (BusCall.Answer) -> Void) -> BusCall?

  /// A call that waits for its turn or its answer; when this is released, it is not made, or nobody hears.
  final class Place {
    fileprivate let begin: Begin
    fileprivate let hear: (BusCall.Answer) -> Void
    fileprivate(set) var isAnswered = false

    fileprivate init(_ begin: @escaping Begin, _ hear: @escaping (BusCall.Answer) -> Void) {
      (self.begin, self.hear) = (begin, hear)
    }
  }

  private var waiting: [() -> Place?] = []
  /// Kept until they are answered, also when nobody wants to hear: the bus counts them as well.
  private var underWay: [Int: BusCall] = [:]
  private var count = 0

  /// Has a call made, before this returns if it is its turn.
  func add(_ begin: @escaping Begin, answer hear: @escaping (BusCall.Answer) -> Void) -> Place {
    let place = Place(begin, hear)
    waiting.append { [weak place] in place }
    goOn()
    return place
  }

  private func goOn() {
    while underWay.count < Self.bound, !waiting.isEmpty {
      if let place = waiting.removeFirst()() { start(place) }
    }
  }

  private func start(_ place: Place) {
    count += 1
    let number = count
    let call = place.begin { [unowned self, weak place] answer in
      // A call that cannot be sent is answered before it is there.
      let wasUnderWay = underWay.removeValue(forKey: number) != nil
      place?.isAnswered = true
      place?.hear(answer)
      if wasUnderWay { goOn() }
    }
    guard let call else { return place.isAnswered = true }
    if !place.isAnswered { underWay[number] = call }
  }
}
