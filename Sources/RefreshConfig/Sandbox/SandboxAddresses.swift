@preconcurrency import Glibc

// Values of `[sandbox]` that are internet addresses, in the form of systemd.resource-control(5).

extension Node {
  /// Addresses, prefixes and the four words for common prefixes; a text or an array.
  func addressRanges() throws(Unreadable) -> [SandboxProperty.AddressRange]? {
    let remedy = #"write for example "192.0.2.0/24", "2001:db8::/32", or "any", "localhost", "link-local", "multicast""#
    if case .array(let elements) = value, elements.isEmpty { return [] }
    return try words("an internet address", remedy: remedy) { SandboxProperty.AddressRange.ranges(of: $0) != nil }?
      .flatMap { SandboxProperty.AddressRange.ranges(of: $0) ?? [] }
  }
}

extension SandboxProperty.AddressRange {
  private static let words = [
    "any": ["0.0.0.0/0", "::/0"],
    "localhost": ["127.0.0.0/8", "::1/128"],
    "link-local": ["169.254.0.0/16", "fe80::/64"],
    "multicast": ["224.0.0.0/4", "ff00::/8"],
  ]

  /// The ranges for an element of the list; nil if it is invalid.
  fileprivate static func ranges(of word: String) -> [Self]? {
    if let prefixes = words[word] { return prefixes.compactMap(Self.init) }
    return Self(word).map { [$0] }
  }

  /// Reads an address, or a prefix with a slash and its length.
  private init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count) else { return nil }
    let family = parts[0].utf8.contains(UInt8(ascii: ":")) ? AF_INET6 : AF_INET
    var address = [UInt8](repeating: 0, count: family == AF_INET6 ? 16 : 4)
    guard inet_pton(family, String(parts[0]), &address) == 1 else { return nil }
    let bits = UInt32(address.count * 8)
    guard let length = parts.count == 2 ? parts[1].digits : bits, length <= bits else { return nil }
    self.init(family: family, address: address, prefixLength: length)
  }
}
