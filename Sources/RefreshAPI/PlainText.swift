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
