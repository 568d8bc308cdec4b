extension Unicode.Scalar {
  /// Whether it may be in a text for people: no control character, no line break and no noncharacter.
  public var isText: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: !properties.isNoncharacterCodePoint
    }
  }

  /// Whether it may be passed to an app and shown as it is: it moves no cursor, breaks no line and reverses no text.
  ///
  /// systemd refuses an environment with a noncharacter. Of the invisible format characters only U+200D is allowed,
  /// which joins emoji.
  public var isPrintable: Bool { isText && (properties.generalCategory != .format || self == "\u{200D}") }
}

extension String {
  /// The text with its markup characters escaped, because the desktop reads markup in a notification.
  public var withoutMarkup: String {
    // A combining mark makes one character with the markup character before it.
    unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }
}

extension RawRepresentable<String> {
  /// The word with hyphens, for people and metrics: `new-data` for `new_data` on the wire.
  public var hyphenated: String { String(rawValue.map { $0 == "_" ? "-" : $0 }) }
}

extension String {
  /// The number of letters to add, remove or replace to get the other text (Levenshtein distance).
  public func edits(to other: String) -> Int {
    let letters = Array(other.unicodeScalars)
    var row = Array(0...letters.count)
    for (above, letter) in unicodeScalars.enumerated() {
      var diagonal = row[0]
      row[0] = above + 1
      for column in letters.indices {
        let replaced = diagonal + (letters[column] == letter ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
      }
    }
    return row[letters.count]
  }
}

extension String {
  /// Whether the text is a well-known name of a bus (D-Bus specification, "Bus names").
  ///
  /// Does not use sd-bus(3), because the command checks files and has no libsystemd.
  public var isBusName: Bool {
    let elements = split(separator: ".", omittingEmptySubsequences: false)
    return elements.count > 1 && utf8.count <= 255
      && elements.allSatisfy { element in
        guard let first = element.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return element.utf8.allSatisfy { byte in
          (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
      }
  }
}

extension Wire.Refresh {
  /// The messages of its tasks, each after the task's name if there are several; omits the message that is the cause.
  public var messages: [String] {
    let says = tasks.filter { !$0.message.isEmpty && $0.message != $0.cause?.text }
    return says.map { tasks.count == 1 ? $0.message : "\($0.name): \($0.message)" }
  }
}
