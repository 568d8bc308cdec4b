/// The reason why a text is not the expected JSON, and its position.
///
/// The offset identifies the value. ``path(in:from:)`` finds its path in a second pass, so that a correct text costs
/// nothing.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of error.
  public enum Reason: Hashable, Sendable {
    /// The text breaks the grammar of RFC 8259, or is not UTF-8.
    case malformed
    /// Lists and objects are nested deeper than the reader allows.
    case tooDeep
    /// The value has another type than this one.
    case expected(StaticWord)
    /// The number does not fit the type.
    case outOfRange
    /// The enum does not have the word.
    case unknownWord
    /// An object lacks the member of this name.
    case missing(StaticWord)
    /// An object has the member twice.
    case duplicate
    /// A list has more values than the reader allows.
    case tooMany
  }

  /// The kind of error.
  public let reason: Reason
  /// The byte at which the value begins, or the byte that breaks the grammar.
  public let offset: Int

  /// An error at a byte of the text.
  @usableFromInline
  init(_ reason: Reason, at offset: Int) {
    (self.reason, self.offset) = (reason, offset)
  }

  /// A description without any part of the text, which may be secret.
  public var description: String {
    switch reason {
    case .malformed: "no JSON at byte \(offset)"
    case .tooDeep: "nested too deep at byte \(offset)"
    case .expected(let type): "no \(type.text) at byte \(offset)"
    case .outOfRange: "a number that does not fit at byte \(offset)"
    case .unknownWord: "an unknown word at byte \(offset)"
    case .missing(let name): "no member \(name.text) in the object at byte \(offset)"
    case .duplicate: "the same member twice at byte \(offset)"
    case .tooMany: "too many values at byte \(offset)"
    }
  }

  /// The path of the value that the error is about, such as `apps[2].id`; empty for the whole value.
  ///
  /// `bytes` are the bytes that were read, and `start` is the offset of the outermost value.
  public func path(in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> String {
    var reader = JSONReader(bytes, from: start)
    let path = reader.path(to: offset, "") ?? ""
    guard case .missing(let name) = reason else { return path }
    return path.isEmpty ? name.text : "\(path).\(name.text)"
  }
}

/// A word of the program's source text.
public struct StaticWord: Hashable, Sendable, ExpressibleByStringLiteral {
  private let word: StaticString

  /// Makes a word from a literal.
  public init(stringLiteral word: StaticString) { self.word = word }

  /// The word.
  public var text: String { word.description }

  /// Whether both words are the same text.
  public static func == (left: Self, right: Self) -> Bool { left.text == right.text }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension JSONReader {
  /// The path of the value at `target` inside the value that begins here; nil if it is not inside.
  ///
  /// Skips each member first, and decodes only the name of the member that holds the target. A long name with many values
  /// in it thus costs no more than its bytes.
  fileprivate mutating func path(to target: Int, _ path: String) -> String? {
    do throws(JSONError) {
      skipSpace()
      if position >= target { return path }
      switch next {
      case UInt8(ascii: "{"):
        try beginObject()
        while try nextKey() {
          let (word, isEscaped) = (self.word, isWordEscaped)
          guard try passes(target) else { continue }
          (self.word, isWordEscaped) = (word, isEscaped)
          let name = keyText
          return self.path(to: target, path.isEmpty ? name : "\(path).\(name)")
        }
      case UInt8(ascii: "["):
        try beginArray()
        var index = 0
        while try nextElement() {
          if try passes(target) { return self.path(to: target, "\(path)[\(index)]") }
          index += 1
        }
      default: try skip()
      }
      return position > target ? path : nil
    } catch {
      return path
    }
  }

  /// Whether the value that begins here ends after `target` or breaks the grammar; otherwise moves past it.
  private mutating func passes(_ target: Int) throws(JSONError) -> Bool {
    skipSpace()
    let (start, levels) = (position, openLevels)
    do throws(JSONError) { try skip() } catch { position = target + 1 }
    guard position > target else { return false }
    rewind(to: start, levels: levels)
    return true
  }
}
