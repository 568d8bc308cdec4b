@preconcurrency import Glibc
import RefreshEngine

/// The texts of facts that an app may name as conditions of its own.
enum OwnConditionText {
  /// The kind of device that `present` knows.
  private static let usb = "usb"
  /// The most bytes in the name of a host (RFC 1035, 2.3.4).
  private static let longestHost = 253

  /// Reads `usb:VENDOR:PRODUCT`, in small letters.
  static func device(_ text: String) throws(Unreadable) -> String {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == usb,
      parts.dropFirst().allSatisfy({ $0.utf8.count == 4 && UInt16($0, radix: 16) != nil })
    else {
      throw Unreadable(
        "cannot use \(quoted(text)) as a device",
        remedy: #"write "usb:VENDOR:PRODUCT" with the two numbers that lsusb shows, as in "usb:1d6b:0002""#)
    }
    return text.lowercased()
  }

  /// Checks `HOST:PORT`; an IPv6 address stands in brackets.
  static func server(_ text: String) throws(Unreadable) -> String {
    let end = text.lastIndex(of: ":") ?? text.endIndex
    let (host, port) = (text[..<end], text[end...].dropFirst())
    let isAddress = host.hasPrefix("[") && host.hasSuffix("]") && isIPv6(String(host.dropFirst().dropLast()))
    let isName =
      (1...longestHost).contains(host.utf8.count)
      && host.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
    guard isAddress || isName, port.utf8.allSatisfy(\.isDigit), let number = UInt16(port), number > 0 else {
      throw Unreadable(
        "cannot use \(quoted(text)) as a server",
        remedy: #"write "HOST:PORT" with a port from 1 to 65535, as in "nas.local:22" or "[fd00::1]:22""#)
    }
    return text
  }

  private static func isIPv6(_ text: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET6, text, &address) == 1
  }

  /// The words of a command, quoted as for a shell, cut to a length that fits in a sentence.
  static func words(of arguments: [String]) -> String {
    let words = arguments.map { word in
      let isPlain = !word.isEmpty && word.utf8.allSatisfy { $0.isLetterOrDigit || "-._/:=@%+,".utf8.contains($0) }
      return isPlain ? word : "'\(word)'"
    }
    let text = words.joined(separator: " ")
    return text.unicodeScalars.count > 80 ? "\(text.prefix(80))…" : text
  }

  /// A digest that changes when the command changes.
  static func digest(of command: Command) -> UInt64 {
    let lists = [
      command.arguments, command.environment, [command.directory].compactMap(\.self),
      [command.group].compactMap { $0.map(String.init) },
    ]
    // No text has a zero byte; the byte 1 alone between two of them ends a list.
    return StableHash.of(lists.joined(separator: ["\u{1}"]).map { $0 + "\0" }.joined())
  }
}

extension LoadContext {
  /// Checks the path of a folder on which a file system may be mounted; it may begin with `~/`.
  func mountPoint(_ text: String) throws(Unreadable) -> String {
    guard text.isPlainPath else {
      throw Unreadable(
        "cannot use \(quoted(text)) as a mount point",
        remedy: "write the absolute path that /proc/self/mountinfo shows, without a final slash")
    }
    if let refusal = reader.refusalToWatch(text) { throw refusal }
    return text
  }

  /// Checks the name of a server, to which refresh-worker must connect.
  func server(_ text: String) throws(Unreadable) -> String {
    let server = try OwnConditionText.server(text)
    guard worker != nil else {
      throw Unreadable(
        "cannot check whether \(quoted(server)) answers without refresh-worker",
        remedy: "install it next to refreshd, or use a command of your own in when")
    }
    return server
  }
}
