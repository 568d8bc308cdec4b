import RefreshAPI

/// Amounts of data for people, in powers of ten.
enum ByteCount {
  /// An amount: `999 B`, `1.2 kB`, `52 kB`, `3.4 MB`.
  static func text(_ bytes: Int64) -> String {
    var amount = Double(bytes)
    for unit in ["B", "kB", "MB"] {
      if amount < 999.5 { return text(amount, unit) }
      amount /= 1000
    }
    return text(amount, "GB")
  }

  private static func text(_ amount: Double, _ unit: String) -> String {
    guard unit != "B", amount < 9.95 else { return "\(Int(amount.rounded())) \(unit)" }
    let tenths = Int((amount * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }
}

extension Wire.Refresh {
  /// The processor time and, if counted, the network traffic of the refresh.
  var spent: String {
    let bytes = tasks.compactMap(\.bytes).reduce(0, +)
    let network = bytes > 0 ? ", \(ByteCount.text(bytes)) of network" : ""
    return "\(Elapsed.measured(cpuMicroseconds)) CPU\(network)"
  }
}
