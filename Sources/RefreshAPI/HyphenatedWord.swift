extension RawRepresentable<String> {
  /// The word with hyphens, for people and metrics: `new-data` for `new_data` on the wire.
  public var hyphenated: String { String(rawValue.map { $0 == "_" ? "-" : $0 }) }
}
