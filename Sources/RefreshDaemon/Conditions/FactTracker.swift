import RefreshEngine
import Systemd

/// Watches the sources of one fact about the machine.
///
/// ``ConditionNeed`` lists all types that conform.
protocol FactTracker: AnyObject {
  associatedtype Fact: Hashable & Sendable

  /// The event that carries a reading of the fact to the engine.
  static func observation(_ reading: Reading<Fact>) -> Observation

  /// Starts to watch; `onChange` is called after every change of a source's answer.
  init(in context: TrackerContext, onChange: @escaping () -> Void) throws(SystemdError)

  /// The sources in order of preference, with their answers.
  var sources: [ConditionSource<Fact>] { get }
}

/// The connections and settings that trackers are made with.
struct TrackerContext {
  let bus: Bus
  let loop: EventLoop
  let settings: ConditionSources.Settings
}

/// Watches a fact of any type.
protocol ObservedFact: AnyObject {
  /// The name and state of each source, down to the first that knows; the sources after it are not asked.
  var statuses: [(name: String, text: String)] { get }
}

/// Reports the readings of a tracker, each only once.
final class Observed<Tracker: FactTracker>: ObservedFact {
  private var tracker: Tracker?
  private let report: (Reading<Tracker.Fact>) -> Void
  private var reported: Reading<Tracker.Fact>?

  init(in context: TrackerContext, report: @escaping (Reading<Tracker.Fact>) -> Void) throws(SystemdError) {
    self.report = report
    tracker = try Tracker(in: context) { [unowned self] in look() }
  }

  var statuses: [(name: String, text: String)] {
    guard let sources = tracker?.sources else { return [] }
    let end = sources.firstIndex(where: \.answer.isKnown) ?? sources.endIndex
    return sources.prefix(through: min(end, sources.endIndex - 1)).map { ($0.name, $0.answer.text) }
  }

  /// Reports the current reading, unless it was reported before or a source may still answer.
  func look() {
    guard let tracker, let reading = Reading(of: tracker.sources), reading != reported else { return }
    reported = reading
    report(reading)
  }
}

/// A source that can answer by itself, such as the kernel.
protocol AnswerSource: AnyObject {
  associatedtype Fact: Hashable & Sendable

  var answer: ConditionAnswer<Fact> { get }
}

/// A source that is watched only while a better source is silent, so that its events do not wake the daemon.
final class FallbackSource<Source: AnswerSource> {
  /// The source while it is watched.
  private(set) var source: Source?

  private let start: () throws(SystemdError) -> Source
  private var isNeeded = false
  private var problem = ""

  init(start: @escaping () throws(SystemdError) -> Source) { self.start = start }

  var answer: ConditionAnswer<Source.Fact> { isNeeded ? source?.answer ?? .silent(problem) : .awaited }

  /// Starts or stops watching the source.
  func watch(_ isNeeded: Bool) {
    self.isNeeded = isNeeded
    guard isNeeded else { return source = nil }
    guard source == nil else { return }
    do throws(SystemdError) {
      source = try start()
    } catch {
      problem = error.description
    }
  }
}

/// A source's answer to the question for a fact.
enum ConditionAnswer<Fact: Hashable & Sendable>: Hashable, Sendable {
  /// No answer yet, and the source still has time.
  case awaited
  /// The fact; `without` names a part of it that the source does not know.
  case known(Fact, without: String? = nil)
  /// The source is not on this machine.
  case absent
  /// No answer, with the reason, such as "NetworkManager left the bus".
  case silent(String)

  /// Converts the state of an object on the bus; `read` converts its properties.
  init(_ state: BusObject.State, read: ([String: BusValue]) -> ConditionAnswer) {
    switch state {
    case .asked: self = .awaited
    case .known(let properties): self = read(properties)
    case .absent: self = .absent
    case .silent(let reason): self = .silent(reason)
    }
  }

  /// Whether the source knows the fact.
  var isKnown: Bool {
    if case .known = self { true } else { false }
  }

  /// Whether the source will not answer, so that the next source is needed.
  var isMissing: Bool {
    switch self {
    case .absent, .silent: true
    case .awaited, .known: false
    }
  }

  /// The state of the source, in a few words for a person.
  var text: String {
    switch self {
    case .awaited: "asked"
    case .known(_, let missing): missing ?? "answers"
    case .absent: "not there"
    case .silent(let reason): reason
    }
  }
}

/// A source, by its common name, with its answer.
struct ConditionSource<Fact: Hashable & Sendable>: Hashable, Sendable {
  var name: String
  var answer: ConditionAnswer<Fact>

  init(_ name: String, _ answer: ConditionAnswer<Fact>) {
    self.name = name
    self.answer = answer
  }
}

extension Reading {
  /// Takes the answer of the first source that knows; `sources` is in order of preference.
  ///
  /// Nil while an earlier source has not answered yet. An absent source is no problem, a silent source is.
  init?(of sources: [ConditionSource<Value>]) {
    var problems: [String] = []
    for source in sources {
      switch source.answer {
      case .awaited: return nil
      case .absent: continue
      case .silent(let reason): if !problems.contains(reason) { problems.append(reason) }
      case .known(let fact, let missing):
        if !problems.isEmpty { problems[problems.endIndex - 1] += "; \(source.name) instead" }
        if let missing { problems.append(missing) }
        self.init(fact, source: source.name, problem: problems.isEmpty ? nil : problems.joined(separator: "; "))
        return
      }
    }
    if problems.isEmpty { problems = ["\(sources.map(\.name).joined(separator: ", ")): not on this machine"] }
    self.init(nil, source: "", problem: problems.joined(separator: "; "))
  }
}
