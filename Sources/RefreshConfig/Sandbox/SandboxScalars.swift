// The values of `[sandbox]` that are one word or number.

extension Node {
  /// Whether it is this text.
  func isText(_ text: String) -> Bool { if case .string(text) = value { true } else { false } }

  /// One of a few words.
  func word(of words: [String]) throws(Unreadable) -> SandboxProperty.Value? {
    guard case .string(let text) = value else { return nil }
    guard words.contains(text) else { throw .noWord(text, words) }
    return .text(text)
  }

  /// Yes, no, or one of a few words.
  func word(or words: [String]) throws(Unreadable) -> SandboxProperty.Value? {
    switch value {
    case .boolean(let isOn): return .text(isOn ? "yes" : "no")
    case .string(let text) where words.contains(text): return .text(text)
    case .string(let text):
      throw Unreadable(
        message: "cannot take \(quoted(text))",
        remedy: "write true, false, " + words.map(quoted).joined(separator: " or "))
    default: return nil
    }
  }

  /// One of a few words that stand for numbers.
  func number(of words: [String: Int32]) throws(Unreadable) -> SandboxProperty.Value? {
    guard case .string(let text) = value else { return nil }
    guard let number = words[text] else { throw .noWord(text, words.keys.sorted()) }
    return .int32(number)
  }

  func integer(within bounds: ClosedRange<Int32>) throws(Unreadable) -> Int32? {
    guard case .integer(let number) = value else { return nil }
    guard let small = Int32(exactly: number), bounds.contains(small) else {
      throw .outOfBounds("\(number)", "\(bounds.lowerBound)", "\(bounds.upperBound)")
    }
    return small
  }

  /// The permissions that new files do not get, in octal digits.
  func fileMode() throws(Unreadable) -> UInt32? {
    guard case .string(let text) = value else { return nil }
    guard text.utf8.count <= 4, let mode = UInt32(text, radix: 8), mode <= 0o777, text.first != "+" else {
      throw Unreadable(
        message: "cannot take \(quoted(text)) as permissions", remedy: #"write octal digits, as in "0077""#)
    }
    return mode
  }

  /// A number of bytes or of things, `infinity` for no bound.
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

  /// A number of bytes or of things, or a share of what the machine has; with the name of the property for it.
  func share(of name: String, isSize: Bool) throws(Unreadable) -> (String, SandboxProperty.Value)? {
    guard case .string(let text) = value, text.last == "%" else {
      return try amount(isSize: isSize).map { (name, .uint64($0)) }
    }
    guard let share = Self.hundredthsOfPercent(text), share <= 10_000 else { throw .amount(text, isSize) }
    // As systemd scales it: 2³² - 1 is all of it.
    return ("\(name)Scale", .uint32(UInt32((UInt64(share) * UInt64(UInt32.max) + 5000) / 10_000)))
  }

  /// A percentage above zero, in hundredths of a percent.
  func percentage() throws(Unreadable) -> UInt32? {
    guard case .string(let text) = value else { return nil }
    guard let share = Self.hundredthsOfPercent(text) else {
      throw Unreadable(
        message: "cannot take \(quoted(text)) as a share",
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

  /// Reads a number of bytes with a suffix to the base 1024, as systemd does: `512M`.
  private static func size(_ text: String) -> UInt64? {
    let suffixes = Array("BKMGTPE")
    guard let last = text.last, let power = suffixes.firstIndex(of: last), let number = text.dropLast().digits
    else { return nil }
    let (bytes, overflows) = UInt64(number).multipliedReportingOverflow(by: 1 << (10 * UInt64(power)))
    return bytes > 0 && !overflows ? bytes : nil
  }
}

extension Substring {
  /// The number, if there are digits and nothing else.
  var digits: UInt32? { utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt32(self) : nil }
}

extension Unreadable {
  fileprivate static func noWord(_ text: String, _ words: [String]) -> Unreadable {
    let words = words.map(quoted)
    return Unreadable(
      message: "cannot take \(quoted(text))",
      remedy: "write \(words.dropLast().joined(separator: ", ")) or \(words.suffix(1).joined())")
  }

  fileprivate static func amount(_ text: String, _ isSize: Bool) -> Unreadable {
    Unreadable(
      message: "cannot take \(quoted(text)) as \(isSize ? "a size" : "a number")",
      remedy: isSize
        ? #"write for example "512M" (B, K, M, G, T), "20%" where systemd has it, or "infinity""#
        : #"write a number above zero, "20%" where systemd has it, or "infinity""#)
  }
}
