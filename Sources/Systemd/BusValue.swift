/// A value in a received message of the bus (D-Bus specification, "Type System").
///
/// A variant reads as its contents, an integer of any width as one of two cases, and an array of bytes as bytes.
public indirect enum BusValue: Hashable, Sendable {
  /// Text.
  case string(String)
  /// The path of an object.
  case path(String)
  /// Yes or no.
  case boolean(Bool)
  /// An integer with a sign.
  case integer(Int64)
  /// An integer without a sign, including a single byte.
  case unsigned(UInt64)
  /// A number with a fraction.
  case double(Double)
  /// An array of bytes, which D-Bus also uses for text of unknown encoding.
  case bytes([UInt8])
  /// An open descriptor.
  case descriptor(BusDescriptor)
  /// An array.
  case array([BusValue])
  /// A structure, or an entry of a dictionary whose keys are not strings.
  case structure([BusValue])
  /// A dictionary with strings or paths as keys.
  case dictionary([String: BusValue])

  /// The text of a string or a path.
  public var text: String? {
    switch self {
    case .string(let text), .path(let text): text
    default: nil
    }
  }

  /// The value of a boolean.
  public var boolean: Bool? {
    if case .boolean(let value) = self { value } else { nil }
  }

  /// The value of an integer, if it fits.
  public var integer: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .unsigned(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The value of a number with a fraction.
  public var double: Double? {
    if case .double(let value) = self { value } else { nil }
  }

  /// The bytes of an array of bytes.
  public var bytes: [UInt8]? {
    if case .bytes(let value) = self { value } else { nil }
  }

  /// The elements of an array or a structure.
  public var elements: [BusValue]? {
    switch self {
    case .array(let elements), .structure(let elements): elements
    default: nil
    }
  }

  /// The entries of a dictionary.
  public var entries: [String: BusValue]? {
    if case .dictionary(let entries) = self { entries } else { nil }
  }
}
