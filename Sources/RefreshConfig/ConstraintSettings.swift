import RefreshEngine

/// The constraints of an app or of `[defaults]`, as far as they are written (FEATURES D1, D2).
struct ConstraintSettings {
  /// The most bytes in the name of a Wi-Fi network (IEEE 802.11, "SSID element").
  private static let longestSSID = 32

  var network: NetworkConstraint?
  var ssids: [String]?
  var deniedSSIDs: [String]?
  var power: PowerConstraint?
  var idle: Bool?
  var calm: Bool?

  init() {}

  /// Takes the keys out of a section.
  init(from section: inout Section) {
    network = section.takeWord("network", example: .unmetered)
    ssids = section.takeTexts("ssids", example: "Home", Self.checkedSSID)
    deniedSSIDs = section.takeTexts("denied_ssids", example: "Hotel", Self.checkedSSID)
    power = section.takeWord("power", example: .notLow)
    idle = section.takeBoolean("idle")
    calm = section.takeBoolean("calm")
  }

  /// The same constraints, with those of `defaults` where nothing is written.
  func completed(by defaults: ConstraintSettings) -> ConstraintSettings {
    var settings = self
    settings.network = network ?? defaults.network
    settings.ssids = ssids ?? defaults.ssids
    settings.deniedSSIDs = deniedSSIDs ?? defaults.deniedSSIDs
    settings.power = power ?? defaults.power
    settings.idle = idle ?? defaults.idle
    settings.calm = calm ?? defaults.calm
    return settings
  }

  /// The constraints of these settings, with the engine's defaults where nothing is written.
  func constraints(_ sharing: inout Sharing) -> Constraints {
    var constraints = Constraints()
    constraints.network = network ?? constraints.network
    constraints.ssids = ssids.map { sharing.one($0) } ?? constraints.ssids
    constraints.deniedSSIDs = deniedSSIDs.map { sharing.one($0) } ?? constraints.deniedSSIDs
    constraints.power = power ?? constraints.power
    constraints.idle = idle ?? constraints.idle
    constraints.calm = calm ?? constraints.calm
    return constraints
  }

  private static func checkedSSID(_ text: String) throws(Unreadable) {
    guard (1...longestSSID).contains(text.utf8.count) else {
      throw Unreadable(
        message: "cannot take \(quoted(text)) as the name of a Wi-Fi network",
        remedy: "write a name of 1 to \(longestSSID) bytes")
    }
  }
}
