/// Reads and writes the names of units that the user's manager started for apps.
///
/// systemd's page "Desktop Environment Integration" defines `app[-LAUNCHER]-ID-RANDOM.scope` and
/// `app[-LAUNCHER]-ID[@RANDOM].service`, with `-` in the id as `\x2d`. Snaps and apps that the bus starts have other forms.
enum DesktopUnit {
  /// The name patterns of all units that may belong to an app, for systemd; an alias may match too.
  static let patterns = ["*.scope", "*.service"]

  /// The desktop id of the app; nil for any other unit.
  static func desktopID(of unit: String) -> String? {
    let id: Substring?
    if let name = unit.between("snap.", ".scope") {
      // snap.NAME.APP-UUID; the desktop id is NAME_APP.
      let parts = name.split(separator: ".", maxSplits: 1)
      let app = parts.count == 2 ? parts[1].prefix { $0 != "-" } : ""
      id = app.isEmpty ? nil : Substring("\(parts[0])_\(app)")
    } else if let name = unit.between("dbus-:", ".service") {
      id = name.upTo("@").afterFirst("-")
    } else if let name = unit.between("app-", ".service") {
      id = name.upTo("@").afterLast("-")
    } else if let name = unit.between("app-", ".scope"), let random = name.lastIndex(of: "-") {
      id = name[..<random].afterLast("-")
    } else {
      id = nil
    }
    guard let id, let text = unescaped(id) else { return nil }
    let plain = text.hasSuffix(".desktop") ? String(text.dropLast(".desktop".count)) : text
    return plain.isEmpty ? nil : plain
  }

  /// A desktop id in the form of a unit's name.
  static func escaped(_ id: String) -> String {
    id.utf8.map { byte in
      let isPlain =
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"):
          true
        default: false
        }
      return isPlain ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// The text with each `\xNN` as its byte; nil if the result is no text.
  private static func unescaped(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      let code = rest.prefix(3)
      guard byte == UInt8(ascii: "\\"), code.count == 3, code.first == UInt8(ascii: "x"),
        let number = UInt8(String(decoding: code.dropFirst(), as: UTF8.self), radix: 16)
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(number)
      rest = rest.dropFirst(3)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension StringProtocol where SubSequence == Substring {
  /// The part between a beginning and an end; nil if the text lacks one of them.
  fileprivate func between(_ start: String, _ end: String) -> Substring? {
    guard hasPrefix(start), hasSuffix(end), count >= start.count + end.count else { return nil }
    return dropFirst(start.count).dropLast(end.count)
  }

  fileprivate func upTo(_ mark: Character) -> Substring { prefix { $0 != mark } }

  /// The part after the first mark; nil without a mark.
  fileprivate func afterFirst(_ mark: Character) -> Substring? {
    firstIndex(of: mark).map { self[index(after: $0)...] }
  }

  /// The part after the last mark, or all of it.
  fileprivate func afterLast(_ mark: Character) -> Substring {
    lastIndex(of: mark).map { self[index(after: $0)...] } ?? self[...]
  }
}
