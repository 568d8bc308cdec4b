import HTTP

/// The freshness lifetime of a response (RFC 9111 section 4.2).
enum ResponseFreshness {
  /// The longest lifetime that is believed.
  static let longest = Duration.seconds(24 * 3600)

  /// The lifetime left from now on; nil if the response declares none or forbids reuse.
  ///
  /// `max-age` overrides `Expires`, and `Age`, the time in caches, is subtracted.
  static func remaining(of head: ResponseHead) -> Duration? {
    let directives = head.list("cache-control").map { $0.lowercased() }
    guard !directives.contains(where: { ["no-cache", "no-store"].contains(name(of: $0)) }) else { return nil }
    let lifetime: Int64?
    if let directive = directives.first(where: { name(of: $0) == "max-age" }) {
      lifetime = seconds(directive.drop { $0 != "=" }.dropFirst())
    } else if let expires = head["expires"].flatMap(HTTPDate.seconds), let date = head["date"].flatMap(HTTPDate.seconds)
    {
      lifetime = expires - date
    } else {
      lifetime = nil
    }
    guard let lifetime, lifetime > 0 else { return nil }
    let left = lifetime - (head["age"].flatMap { seconds($0[...]) } ?? 0)
    return left > 0 ? min(.seconds(left), longest) : nil
  }

  /// The name of a directive such as `max-age=60`.
  private static func name(of directive: String) -> Substring { directive.prefix { $0 != "=" } }

  /// Parses seconds, which some servers put in quotes; a number that is too large becomes the maximum.
  private static func seconds(_ text: Substring) -> Int64? {
    let digits = text.count >= 2 && text.first == "\"" && text.last == "\"" ? text.dropFirst().dropLast() : text
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(digits) ?? .max
  }
}
