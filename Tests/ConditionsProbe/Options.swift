import RefreshDaemon
import RefreshEngine

/// The probe's command line.
struct Options {
  var needs: ConditionNeeds = []
  var facts: Set<NamedFact> = []
  var settings = ConditionSources.Settings()

  init(_ arguments: ArraySlice<String>) throws(UsageError) {
    var (words, hasFacts) = (arguments, false)
    while let word = words.popFirst() {
      if let need = ConditionNeed(rawValue: word) {
        needs.insert(need)
        hasFacts = true
        continue
      }
      if word == "nothing" {
        hasFacts = true
        continue
      }
      guard let value = words.popFirst() else { throw UsageError(word: word) }
      switch word {
      case "--user": settings.user = UInt32(value)
      case "--power": settings.powerSupplies = value
      case "--network": settings.networkDevices = value
      case "--pressure": settings.pressure = value
      case "--usb": settings.usbDevices = value
      case "--mounted": facts.insert(NamedFact(.mounted, value))
      case "--present": facts.insert(NamedFact(.present, value))
      default: throw UsageError(word: word)
      }
    }
    if !hasFacts { needs = Set(ConditionNeed.allCases) }
  }
}

struct UsageError: Error, CustomStringConvertible {
  let word: String
  var description: String { "cannot use the argument \(word); main.swift lists the arguments" }
}
