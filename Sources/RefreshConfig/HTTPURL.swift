/// A URL of the schemes `http` and `https`, checked, as far as anything but the worker looks into it.
///
/// It may hold secrets: a password before the host, a token in the query. What is shown of it is ``shown``.
public struct HTTPURL: Hashable, Sendable {
  /// The most bytes that a URL may have, more than servers take.
  public static let longest = 8192

  /// The whole URL, with its secrets, as it was written.
  public let text: String
  /// The host in lower case, with a colon and the port where it is not the scheme's own: what limits per host go by.
  public let host: String
  /// The URL without user and password, fragment, and what its query says: `https://example.org/feed?…`.
  public let shown: String

  /// Reads a URL.
  ///
  /// The message of an ``Unreadable`` has nothing of the URL but its scheme, because that is shown.
  public init(_ text: String) throws(Unreadable) {
    guard text.utf8.count <= Self.longest else {
      throw Unreadable(message: "cannot use a URL of \(text.utf8.count) bytes", remedy: "write \(Self.longest) at most")
    }
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }) else {
      throw Unreadable(
        message: "cannot use a URL with a space, a backslash, a control character or a letter beyond ASCII",
        remedy: "write %20 for a space, and the others percent-encoded as well")
    }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let scheme = parts[0].lowercased()
    guard parts.count == 2, parts[1].hasPrefix("//"), scheme == "http" || scheme == "https" else {
      throw Unreadable(
        message: parts.count == 2 && parts[1].hasPrefix("//")
          ? "cannot use a URL of the scheme \(quoted(parts[0]))" : "cannot tell the scheme of the URL",
        remedy: #"write http:// or https:// before the host"#)
    }
    let rest = parts[1].dropFirst(2)
    let authority = rest.prefix { !"/?#".contains($0) }
    let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
    guard Self.isPlace(place) else {
      throw Unreadable(
        message: "cannot tell the host of the URL", remedy: "write it as in https://example.org:8443/feed.xml")
    }
    self.text = text
    host = Self.server(place.lowercased(), standardPort: scheme == "https" ? 443 : 80)
    let local = rest[authority.endIndex...].prefix { $0 != "#" }
    let path = local.prefix { $0 != "?" }
    shown = "\(scheme)://\(place)\(path)\(path.endIndex < local.endIndex ? "?…" : "")"
  }

  /// Whether it has a user, and with it perhaps a password, in it.
  public var hasLogin: Bool {
    (text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last ?? "")
      .prefix { !"/?#".contains($0) }.contains("@")
  }

  /// Whether it is a host, or an address in brackets, with a port behind it or none.
  private static func isPlace(_ text: Substring) -> Bool {
    let host: Substring
    if text.hasPrefix("[") {
      guard let bracket = text.firstIndex(of: "]") else { return false }
      host = text[..<bracket].dropFirst()
      guard host.utf8.contains(UInt8(ascii: ":")),
        host.allSatisfy({ $0.isLetter || $0.isNumber || ":.-_%".contains($0) })
      else {
        return false
      }
      return isPort(text[text.index(after: bracket)...])
    }
    host = text.prefix { $0 != ":" }
    guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || "-._~%".contains($0) }) else { return false }
    return isPort(text[host.endIndex...])
  }

  /// One spelling of the many that a server has: without the scheme's own port and without the dot of the root
  /// (RFC 9110, section 4.2; RFC 3986, section 3.2.2).
  private static func server(_ place: String, standardPort: Int) -> String {
    let colon = place.lastIndex(of: ":").flatMap { place[$0...].contains("]") ? nil : $0 }
    let name = place[..<(colon ?? place.endIndex)]
    let host = name.last == "." && name.count > 1 ? name.dropLast() : name
    guard let port = colon.flatMap({ Int(place[place.index(after: $0)...]) }), port != standardPort else {
      return String(host)
    }
    return "\(host):\(port)"
  }

  private static func isPort(_ text: Substring) -> Bool {
    guard !text.isEmpty else { return true }
    guard text.hasPrefix(":"), let port = text.dropFirst().digits else { return false }
    return (1...65535).contains(port)
  }
}
