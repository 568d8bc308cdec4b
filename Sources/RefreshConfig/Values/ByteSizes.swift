/// Amounts of data as text.
public enum ByteSizes {
  /// The units: powers of ten with SI prefixes; powers of two with an `i`, or as a single letter as in systemd.
  private static let units: [Substring: Int64] = [
    "": 1, "B": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
    "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
    "TiB": 1 << 40,
  ]

  /// Reads a number of bytes above zero, such as `100MB`, `1.5 GiB` or `512K`.
  public static func bytes(_ text: String) throws(Unreadable) -> Int64 {
    let number = text.prefix { "0123456789.".contains($0) }
    let unit = text[number.endIndex...].drop { $0 == " " }
    guard let factor = units[unit], let bytes = product(number, factor), bytes > 0 else {
      throw Unreadable(
        "cannot take \(quoted(text)) as an amount of data", remedy: #"write for example "100MB" or "1GiB""#)
    }
    return bytes
  }

  /// The product of a factor and a number with up to three decimals, rounded down.
  private static func product(_ number: Substring, _ factor: Int64) -> Int64? {
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = Int64(parts[0]) else { return nil }
    let (bytes, overflows) = whole.multipliedReportingOverflow(by: factor)
    guard !overflows, bytes < 1 << 60 else { return nil }
    guard parts.count == 2 else { return bytes }
    guard (1...3).contains(parts[1].utf8.count), let part = Int64(parts[1]) else { return nil }
    let scale: Int64 = [10, 100, 1000][parts[1].utf8.count - 1]
    return bytes + part * (factor / scale) + part * (factor % scale) / scale
  }
}
