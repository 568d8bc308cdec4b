import RefreshEngine

/// The type of a key's value: how to read a value from a file, and an example.
struct ValueType<Value> {
  /// A valid value as it is written in a file; a message shows it if a value has another type.
  let example: String
  /// Reads the value of the named key; nil if the node has another type.
  let read: (Node, _ key: String) throws(Unreadable) -> Value?

  init(example: String, _ read: @escaping (Node, _ key: String) throws(Unreadable) -> Value?) {
    (self.example, self.read) = (example, read)
  }

  /// A string that `read` turns into the value.
  static func text(_ example: String, _ read: @escaping (String) throws(Unreadable) -> Value) -> Self {
    Self(example: "\"\(example)\"") { (node, _) throws(Unreadable) in
      guard case .string(let text) = node.value else { return nil }
      return try read(text)
    }
  }

  /// A string or a whole number, whose text `read` turns into the value.
  static func nameOrNumber(_ example: String, _ read: @escaping (String) throws(Unreadable) -> Value) -> Self {
    Self(example: "\"\(example)\"") { (node, _) throws(Unreadable) in
      switch node.value {
      case .string(let text): try read(text)
      case .integer(let number): try read("\(number)")
      default: nil
      }
    }
  }

  /// A value of another type, or a word that means none.
  static func optional<Wrapped>(_ type: ValueType<Wrapped>, none word: String? = nil) -> Self
  where Value == Wrapped? {
    Self(example: type.example) { (node, key) throws(Unreadable) in
      if let word, case .string(word) = node.value { return .some(nil) }
      return try type.read(node, key).map(Optional.some)
    }
  }

  /// An array of strings, each of which `read` turns into an element.
  static func array<Element>(
    _ example: String, _ read: @escaping (String) throws(Unreadable) -> Element
  ) -> Self where Value == [Element] {
    Self(example: "[\"\(example)\"]") { (node, key) throws(Unreadable) in
      guard case .array(let nodes) = node.value else { return nil }
      var elements: [Element] = []
      for node in nodes {
        guard case .string(let text) = node.value else {
          throw Unreadable(
            "cannot use \(node.kind) in this array", remedy: "put it in quotes, as in \(key) = [\"\(example)\"]")
        }
        elements.append(try read(text))
      }
      return elements
    }
  }
}

extension ValueType where Value == String {
  /// A string that satisfies `isValid`; `message` makes the error for any other string.
  static func text(
    _ example: String, where isValid: @escaping (String) -> Bool, else message: @escaping (String) -> String,
    remedy: String
  ) -> Self {
    .text(example) { (text) throws(Unreadable) in
      guard isValid(text) else { throw Unreadable(message(text), remedy: remedy) }
      return text
    }
  }
}

extension ValueType where Value == Bool {
  /// `true` or `false`.
  static var boolean: Self {
    Self(example: "true") { node, _ in if case .boolean(let value) = node.value { value } else { nil } }
  }
}

extension ValueType where Value == Duration {
  /// A duration within bounds.
  static func duration(_ bounds: ClosedRange<Duration>, example: String) -> Self {
    .text(example) { (text) throws(Unreadable) in
      let duration = try Duration(systemd: text)
      guard bounds.contains(duration) else {
        throw .outOfBounds(duration.inSystemdForm, bounds.lowerBound.inSystemdForm, bounds.upperBound.inSystemdForm)
      }
      return duration
    }
  }
}

extension ValueType where Value: FixedWidthInteger {
  /// An integer within bounds.
  static func integer(_ bounds: ClosedRange<Value>, example: Value) -> Self {
    Self(example: "\(example)") { (node, _) throws(Unreadable) in
      guard case .integer(let number) = node.value else { return nil }
      guard let value = Value(exactly: number), bounds.contains(value) else {
        throw .outOfBounds("\(number)", "\(bounds.lowerBound)", "\(bounds.upperBound)")
      }
      return value
    }
  }
}

extension ValueType where Value == Double {
  /// A number within bounds, with or without a decimal point.
  static func number(_ bounds: ClosedRange<Double>, example: Double) -> Self {
    Self(example: "\(example)") { (node, _) throws(Unreadable) in
      let number: Double
      switch node.value {
      case .integer(let integer): number = Double(integer)
      case .float(let float): number = float
      default: return nil
      }
      guard bounds.contains(number) else {
        throw .outOfBounds("\(number)", "\(bounds.lowerBound)", "\(bounds.upperBound)")
      }
      return number
    }
  }
}

extension ValueType where Value == Int64 {
  /// An amount of data in bytes.
  static func bytes(_ example: String) -> Self { .text(example, ByteSizes.bytes) }
}

extension ValueType where Value: RawRepresentable<String> & CaseIterable {
  /// A word of an enumeration.
  static func word(_ example: Value) -> Self {
    .text(example.rawValue) { (text) throws(Unreadable) in
      guard let word = Value(rawValue: text) else { throw .noWord(text, of: Value.allCases.map(\.rawValue)) }
      return word
    }
  }
}

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
        "cannot read \(quoted(text)) as an amount of data", remedy: #"write for example "100MB" or "1GiB""#)
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
