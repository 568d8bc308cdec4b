import HTTP

/// How long an answer says that there will be nothing new (RFC 9111 section 4.2).
enum Freshness {
  /// The longest that is taken at its word.
  static let longest = Duration.seconds(24 * 3600)

  /// From now on; nil where it does not say, or says that it must be asked each time.
  ///
  /// `max-age` counts more than `Expires`, and what the answer has spent in caches is taken off.
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

  /// A number of seconds, which some servers put in quotes; one that is beyond all bounds is a very long time.
  private static func seconds(_ text: Substring) -> Int64? {
    let digits = text.count >= 2 && text.first == "\"" && text.last == "\"" ? text.dropFirst().dropLast() : text
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(digits) ?? .max
  }
}
