import CSystemd
import Glibc

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

/// An argument of a call on the bus, with its exact type (D-Bus specification, "Type System").
///
/// ``BusValue`` is the type for reading, which does not keep the width of integers.
public indirect enum BusArgument: Hashable, Sendable {
  /// Text.
  case string(String)
  /// Yes or no.
  case boolean(Bool)
  /// An integer of 8 bits without a sign.
  case byte(UInt8)
  /// An integer of 32 bits with a sign.
  case int32(Int32)
  /// An integer of 32 bits without a sign.
  case uint32(UInt32)
  /// An integer of 64 bits without a sign.
  case uint64(UInt64)
  /// An open descriptor; the message copies it, and the caller still owns it.
  case descriptor(Int32)
  /// An array of values of one type; the type is given because the array may be empty.
  case array(of: String, [BusArgument])
  /// A structure.
  case structure([BusArgument])
  /// An entry of a dictionary, which is an array of them.
  case entry(key: BusArgument, BusArgument)
  /// A value that carries its own type.
  case variant(BusArgument)

  /// An array of strings.
  public static func strings(_ texts: [String]) -> BusArgument { .array(of: "s", texts.map { .string($0) }) }

  /// A dictionary from names to values that carry their own types.
  public static func dictionary(_ values: [(name: String, value: BusArgument)]) -> BusArgument {
    .array(of: "{sv}", values.map { .entry(key: .string($0.name), .variant($0.value)) })
  }

  /// The type in the syntax of the specification.
  var signature: String {
    switch self {
    case .string: "s"
    case .boolean: "b"
    case .byte: "y"
    case .int32: "i"
    case .uint32: "u"
    case .uint64: "t"
    case .descriptor: "h"
    case .array(let type, _): "a\(type)"
    case .structure(let members): "(\(contents(of: members)))"
    case .entry(let key, let value): "{\(key.signature)\(value.signature)}"
    case .variant: "v"
    }
  }

  private func contents(of members: [BusArgument]) -> String { members.map(\.signature).joined() }

  /// Appends the value to a message; a negative result is an errno.
  ///
  /// This fails only for values that no message can hold: a string with a NUL or invalid UTF-8, or a closed descriptor.
  func append(to message: OpaquePointer) -> Int32 {
    switch self {
    case .string(let text): return text.withCString { sd_bus_message_append_basic(message, type("s"), $0) }
    case .boolean(let value): return basic("b", Int32(value ? 1 : 0), message)
    case .byte(let value): return basic("y", value, message)
    case .int32(let value): return basic("i", value, message)
    case .uint32(let value): return basic("u", value, message)
    case .uint64(let value): return basic("t", value, message)
    case .descriptor(let value): return basic("h", value, message)
    case .array(let element, let elements): return container("a", element, elements, message)
    case .structure(let members): return container("r", contents(of: members), members, message)
    case .entry(let key, let value): return container("e", contents(of: [key, value]), [key, value], message)
    case .variant(let value): return container("v", value.signature, [value], message)
    }
  }

  private func type(_ letter: UnicodeScalar) -> CChar { CChar(UInt8(ascii: letter)) }

  private func basic<Value: BitwiseCopyable>(_ letter: UnicodeScalar, _ value: Value, _ message: OpaquePointer) -> Int32
  {
    withUnsafePointer(to: value) { sd_bus_message_append_basic(message, type(letter), $0) }
  }

  private func container(
    _ letter: UnicodeScalar, _ contents: String, _ members: [BusArgument], _ message: OpaquePointer
  ) -> Int32 {
    var result = sd_bus_message_open_container(message, type(letter), contents)
    for member in members where result >= 0 { result = member.append(to: message) }
    return result < 0 ? result : sd_bus_message_close_container(message)
  }
}

/// A descriptor that came over the bus; it stays open until this object is released.
public final class BusDescriptor: Hashable, Sendable {
  /// The descriptor, which is closed on exec.
  public let number: Int32

  /// Copies a descriptor of a message; nil when the process has no descriptor left.
  init?(copying descriptor: Int32) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { return nil }
    number = copy
  }

  deinit { close(number) }

  /// Whether both are the same copy.
  public static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }

  /// Hashes the identity of the copy.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Object paths that contain names with characters that paths cannot have.
public enum BusPath {
  /// The path of a named object below `prefix`, in the encoding of sd_bus_path_encode(3) and systemd.
  ///
  /// Nil when `prefix` is not a path, or when memory is exhausted.
  public static func encoded(_ name: String, below prefix: String) -> String? {
    var path: UnsafeMutablePointer<CChar>?
    guard sd_bus_path_encode(prefix, name, &path) >= 0, let path else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// The path of the object of an app on the session bus (Desktop Entry Specification, "D-Bus Activation").
  public static func ofApplication(_ name: String) -> String {
    "/" + name.map { $0 == "." ? "/" : $0 == "-" ? "_" : String($0) }.joined()
  }
}
