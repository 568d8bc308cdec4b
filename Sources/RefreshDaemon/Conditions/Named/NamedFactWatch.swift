import RefreshEngine
import Systemd

/// A source of facts that apps' files name, such as the kernel's table of mounts.
protocol NamedFactSource: AnyObject {
  /// The name of the source, for people.
  var name: String { get }
  /// Why the source may miss changes, in one sentence; nil when all is well.
  var problem: String? { get }
  /// The state of a fact by its name; nil if the source does not know it.
  func state(of name: String) -> FactState?
}

/// Watches the facts of one constraint that apps' files name, and reports each change once.
///
/// The source is open only while an app asks for one of its facts.
final class NamedFactWatch {
  /// A constraint whose facts are watched, and how its source is opened.
  struct Kind: Sendable {
    let constraint: Constraint
    /// Opens the source, which calls the closure after every change that it sees.
    let open:
      @Sendable (EventLoop, ConditionSources.Settings, @escaping () -> Void) throws(SystemdError) -> any NamedFactSource
  }

  /// Every constraint whose facts are watched.
  static let kinds = [
    Kind(constraint: .mounted) { (loop, settings, onChange) throws(SystemdError) in
      try MountTable(settings.mounts, on: loop, onChange: onChange)
    },
    Kind(constraint: .present) { (loop, settings, onChange) throws(SystemdError) in
      try USBDevices(in: settings.usbDevices, on: loop, onChange: onChange)
    },
  ]

  private let kind: Kind
  private let loop: EventLoop
  private let settings: ConditionSources.Settings
  private let report: (NamedFact, Reading<FactState>) -> Void
  private var source: (any NamedFactSource)?
  /// Why the source cannot be opened.
  private var trouble: String?
  private var reported: [NamedFact: Reading<FactState>] = [:]

  init(
    _ kind: Kind, on loop: EventLoop, _ settings: ConditionSources.Settings,
    report: @escaping (NamedFact, Reading<FactState>) -> Void
  ) {
    (self.kind, self.loop, self.settings, self.report) = (kind, loop, settings, report)
  }

  /// Watches the facts of this kind, and no others.
  func watch(_ facts: Set<NamedFact>) {
    let wanted = facts.filter { $0.constraint == kind.constraint }
    for fact in reported.keys.sorted() where !wanted.contains(fact) {
      reported[fact] = nil
      report(fact, Reading())
    }
    guard !wanted.isEmpty else { return (source, trouble) = (nil, nil) }
    let wasClosed = source == nil
    if wasClosed { open() }
    // A source that could not be opened before may now know facts that were reported as unknown.
    for fact in wanted.sorted() where wasClosed || reported[fact] == nil { look(at: fact) }
  }

  /// The source and its state; nil while no app asks for one of its facts.
  var status: SourceStatus? {
    guard source != nil || trouble != nil else { return nil }
    return SourceStatus(
      fact: kind.constraint.rawValue, name: source?.name ?? "", text: trouble ?? source?.problem ?? "answers")
  }

  private func open() {
    do throws(SystemdError) {
      source = try kind.open(loop, settings) { [unowned self] in
        for fact in reported.keys.sorted() { look(at: fact) }
      }
      trouble = nil
    } catch {
      trouble = error.description
    }
  }

  private func look(at fact: NamedFact) {
    let reading = Reading(
      source?.state(of: fact.name), source: source?.name ?? "", problem: trouble ?? source?.problem)
    guard reported[fact] != reading else { return }
    reported[fact] = reading
    report(fact, reading)
  }
}
