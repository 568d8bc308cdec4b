extension RawRepresentable<String> {
  /// The word with hyphens, as people and metrics have it: `new-data` for `new_data` on the wire.
  public var hyphenated: String { String(rawValue.map { $0 == "_" ? "-" : $0 }) }
}
