/// Which facts about the machine somebody asks for.
package struct ConditionNeeds: OptionSet, Hashable, Sendable {
  /// One bit a fact.
  package let rawValue: UInt8

  /// Makes a set of its bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The network.
  package static let network = ConditionNeeds(rawValue: 1)
  /// The power supply.
  package static let power = ConditionNeeds(rawValue: 2)
  /// The power-saver profile.
  package static let powerSaver = ConditionNeeds(rawValue: 4)
  /// Whether the user is idle.
  package static let idle = ConditionNeeds(rawValue: 8)
  /// Whether the machine is under pressure.
  package static let pressure = ConditionNeeds(rawValue: 16)
  /// Who is logged in.
  package static let sessions = ConditionNeeds(rawValue: 32)
  /// All of them.
  package static let all: ConditionNeeds = [.network, .power, .powerSaver, .idle, .pressure, .sessions]
}
