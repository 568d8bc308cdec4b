import RefreshEngine
import Systemd

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
