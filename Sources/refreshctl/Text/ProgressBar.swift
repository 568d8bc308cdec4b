/// Shows the done share of some work, as a bar and in percent.
enum ProgressBar {
  /// A bar of a given width: `██████▌░░░`.
  ///
  /// `share` goes from 0 to 1. The bar is full only when all work is done, and empty only when none is.
  static func text(_ share: Double, columns: Int) -> String {
    let halves = min(max(share, 0), 1) * Double(columns * 2)
    let drawn = share < 1 && halves > 0 ? min(max(1, Int(halves)), columns * 2 - 1) : Int(halves)
    let full = String(repeating: "█", count: drawn / 2)
    let half = drawn % 2 == 1 ? "▌" : ""
    return full + half + String(repeating: "░", count: columns - drawn / 2 - drawn % 2)
  }

  /// The share in percent, 100 only when all work is done: ` 52 %`.
  static func percent(_ share: Double) -> String {
    let percent = share >= 1 ? 100 : min(99, Int(max(share, 0) * 100))
    return rightAligned("\(percent)", columns: 3) + " %"
  }
}
