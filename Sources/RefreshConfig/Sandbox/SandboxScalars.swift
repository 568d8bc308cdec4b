// Values of `[sandbox]` that are a single word or number.

extension Node {
  /// Whether the node is this text.
  func isText(_ text: String) -> Bool { if case .string(text) = value { true } else { false } }

  /// A word of a list.
  func word(of words: [String]) throws(Unreadable) -> SandboxProperty.Value? {
    guard case .string(let text) = value else { return nil }
    guard words.contains(text) else { throw .noWord(text, of: words) }
    return .text(text)
  }

  /// A boolean, or a word of a list.
  func word(or words: [String]) throws(Unreadable) -> SandboxProperty.Value? {
    switch value {
    case .boolean(let isOn): return .text(isOn ? "yes" : "no")
    case .string(let text) where words.contains(text): return .text(text)
    case .string(let text):
      throw Unreadable(
        "cannot take \(quoted(text))",
        remedy: "write true, false, " + words.map(quoted).joined(separator: " or "))
    default: return nil
    }
  }

  /// The number for a word.
  func number(of words: [String: Int32]) throws(Unreadable) -> SandboxProperty.Value? {
    guard case .string(let text) = value else { return nil }
    guard let number = words[text] else { throw .noWord(text, of: words.keys.sorted()) }
    return .int32(number)
  }

  /// A file mode mask in octal digits (umask(2)).
  func fileMode() throws(Unreadable) -> UInt32? {
    guard case .string(let text) = value else { return nil }
    guard text.utf8.count <= 4, let mode = UInt32(text, radix: 8), mode <= 0o777, text.first != "+" else {
      throw Unreadable(
        "cannot take \(quoted(text)) as permissions", remedy: #"write octal digits, as in "0077""#)
    }
    return mode
  }

  /// A number of bytes or items, `infinity` for no bound.
  func amount(isSize: Bool) throws(Unreadable) -> UInt64? {
    switch value {
    case .integer(let number):
      guard number > 0 else { throw .amount("\(number)", isSize) }
      return UInt64(number)
    case .string("infinity"): return .max
    case .string(let text):
      guard isSize, let size = Self.size(text) else { throw .amount(text, isSize) }
      return size
    default: return nil
    }
  }

  /// The property for a number of bytes or items, or for a percentage of the machine's.
  func share(of name: String, isSize: Bool) throws(Unreadable) -> (String, SandboxProperty.Value)? {
    guard case .string(let text) = value, text.last == "%" else {
      return try amount(isSize: isSize).map { (name, .uint64($0)) }
    }
    guard let share = Self.hundredthsOfPercent(text), share <= 10_000 else { throw .amount(text, isSize) }
    // systemd scales a percentage so that 100 % is 2³² - 1.
    return ("\(name)Scale", .uint32(UInt32((UInt64(share) * UInt64(UInt32.max) + 5000) / 10_000)))
  }

  /// A percentage above zero, in hundredths of a percent.
  func percentage() throws(Unreadable) -> UInt32? {
    guard case .string(let text) = value else { return nil }
    guard let share = Self.hundredthsOfPercent(text) else {
      throw Unreadable(
        "cannot take \(quoted(text)) as a share",
        remedy: #"write for example "50%" for half of one processor, "200%" for two"#)
    }
    return share
  }

  /// Reads `50%` or `0.25%`, above zero and up to 100,000 percent.
  private static func hundredthsOfPercent(_ text: String) -> UInt32? {
    guard text.last == "%" else { return nil }
    let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = parts[0].digits, whole <= 100_000 else { return nil }
    var hundredths = whole * 100
    if parts.count == 2 {
      guard parts[1].utf8.count <= 2, let part = parts[1].digits else { return nil }
      hundredths += parts[1].utf8.count == 1 ? part * 10 : part
    }
    return hundredths > 0 ? hundredths : nil
  }

  /// Reads a number of bytes with a suffix to the base 1024, such as `512M`.
  private static func size(_ text: String) -> UInt64? {
    let suffixes = Array("BKMGTPE")
    guard let last = text.last, let power = suffixes.firstIndex(of: last), let number = text.dropLast().digits
    else { return nil }
    let (bytes, overflows) = UInt64(number).multipliedReportingOverflow(by: 1 << (10 * UInt64(power)))
    return bytes > 0 && !overflows ? bytes : nil
  }
}

extension Substring {
  /// The number in a text of digits; nil for any other text.
  var digits: UInt32? { utf8.allSatisfy(\.isDigit) ? UInt32(self) : nil }
}

extension Unreadable {
  fileprivate static func amount(_ text: String, _ isSize: Bool) -> Unreadable {
    Unreadable(
      "cannot take \(quoted(text)) as \(isSize ? "a size" : "a number")",
      remedy: isSize
        ? #"write for example "512M" (B, K, M, G, T), "20%" where systemd has it, or "infinity""#
        : #"write a number above zero, "20%" where systemd has it, or "infinity""#)
  }
}
