enum Decimal {
  /// About three significant digits: `0.03`, `6.5`, `120`.
  static func text(_ number: Double) -> String {
    let scale: Double = number >= 99.95 ? 1 : number >= 9.995 ? 10 : 100
    let rounded = (number * scale).rounded() / scale
    return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
  }

  /// A rate: `6.5 times a day`, `once a day`.
  static func timesADay(_ number: Double) -> String {
    let amount = text(number)
    return amount == "1" ? "once a day" : "\(amount) times a day"
  }
}
