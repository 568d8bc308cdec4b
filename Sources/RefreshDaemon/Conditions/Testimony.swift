import RefreshEngine
import Systemd

/// What one source says of the fact that it was asked for.
enum Testimony<Fact: Hashable & Sendable>: Hashable, Sendable {
  /// Nothing yet, and its patience is not at its end.
  case awaited
  /// This, with what it does not know in a few words, if there is such.
  case known(Fact, without: String? = nil)
  /// Nothing: it is not on this machine.
  case absent
  /// Nothing, and this is why: words such as "NetworkManager left the bus".
  case silent(String)

  /// What an object on the bus says, read by `read`; its words are nil where they are not understood.
  init(_ state: BusObject.State, read: ([String: BusValue]) -> Testimony) {
    switch state {
    case .asked: self = .awaited
    case .known(let properties): self = read(properties)
    case .absent: self = .absent
    case .silent(let reason): self = .silent(reason)
    }
  }

  /// Whether the source knows.
  var isKnown: Bool {
    if case .known = self { true } else { false }
  }

  /// How the source is, in a few words for a person.
  var text: String {
    switch self {
    case .awaited: "asked"
    case .known(_, let missing): missing ?? "answers"
    case .absent: "not there"
    case .silent(let reason): reason
    }
  }
}

/// A source by the name that a person knows it by, and what it says.
struct Witness<Fact: Hashable & Sendable>: Hashable, Sendable {
  var name: String
  var testimony: Testimony<Fact>

  init(_ name: String, _ testimony: Testimony<Fact>) {
    self.name = name
    self.testimony = testimony
  }
}

/// What observes one fact: whom it asks, and what each says.
protocol FactTracker: AnyObject {
  associatedtype Fact: Hashable & Sendable

  /// Called after every change of what a source says.
  var onChange: () -> Void { get set }
  /// Who is asked, best first.
  var witnesses: [Witness<Fact>] { get }
}

/// A tracker that is listened to: hands each reading on once.
final class Observed<Tracker: FactTracker> {
  private let tracker: Tracker
  private let tell: (Reading<Tracker.Fact>) -> Void
  private var told: Reading<Tracker.Fact>?

  init(_ tracker: Tracker, tell: @escaping (Reading<Tracker.Fact>) -> Void) {
    self.tracker = tracker
    self.tell = tell
    tracker.onChange = { [unowned self] in look() }
  }

  /// Who is asked, best first.
  var witnesses: [Witness<Tracker.Fact>] { tracker.witnesses }

  /// Hands on what the sources say now, unless that was told before or one must be waited for.
  func look() {
    guard let reading = Reading(of: witnesses), reading != told else { return }
    told = reading
    tell(reading)
  }
}

extension Reading {
  /// The word of the first of `witnesses` that knows, best first; nil while one must be waited for.
  ///
  /// One that is absent is no problem, one that is silent is.
  init?(of witnesses: [Witness<Value>]) {
    var problems: [String] = []
    for witness in witnesses {
      switch witness.testimony {
      case .awaited: return nil
      case .absent: continue
      case .silent(let reason): if !problems.contains(reason) { problems.append(reason) }
      case .known(let fact, let missing):
        if !problems.isEmpty { problems[problems.endIndex - 1] += "; \(witness.name) instead" }
        if let missing { problems.append(missing) }
        self.init(fact, source: witness.name, problem: problems.isEmpty ? nil : problems.joined(separator: "; "))
        return
      }
    }
    if problems.isEmpty { problems = ["\(witnesses.map(\.name).joined(separator: ", ")): not on this machine"] }
    self.init(nil, source: "", problem: problems.joined(separator: "; "))
  }
}
