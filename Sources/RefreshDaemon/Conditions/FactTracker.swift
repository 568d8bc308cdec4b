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
