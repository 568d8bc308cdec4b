import Glibc

/// A file with secrets: a password, or header fields that hold a token.
package enum PrivateFile {
  /// Who may read it beside root.
  package enum Readers: Hashable, Sendable {
    /// Its owner, who is the caller or root.
    case owner
    /// Its owner, and the caller's own group, in which nobody else is.
    case group
    /// Whoever the service manager lets read it, which keeps it: a credential of the service (systemd.exec(5)).
    case service
  }

  /// Its text, of 64 KiB at most.
  ///
  /// Throws when others than `readers` may read it, or when it belongs to another than the caller or root.
  package static func text(of path: String, for readers: Readers = .owner) throws(ExchangeFailure) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw .unusable("cannot read \(path): \(String(cString: strerror(errno))); let user \(geteuid()) read it")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .unusable("cannot read \(path): it is no plain file")
    }
    guard isPrivate(status, to: readers) else {
      throw .unusable(
        "cannot use \(path): it holds secrets and others may read it; give it to user \(geteuid()), mode 0600"
          + (readers == .group ? ", or to root and group \(getegid()), mode 0640" : ""))
    }
    guard status.st_size <= limit else {
      throw .unusable("cannot use \(path): it has more than \(limit >> 10) KiB")
    }
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw .unusable("cannot read \(path): \(String(cString: strerror(errno)))") }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private static func isPrivate(_ status: stat, to readers: Readers) -> Bool {
    let isOwned = status.st_uid == geteuid() || status.st_uid == 0
    return switch readers {
    case .owner: isOwned && status.st_mode & 0o077 == 0
    case .group: isOwned && status.st_mode & (status.st_gid == getegid() ? 0o037 : 0o077) == 0
    case .service: true
    }
  }

  /// Header fields, one line `Name: value` each; blank lines and lines that begin with `#` are passed over.
  package static func headers(in path: String, for readers: Readers = .owner) throws(ExchangeFailure) -> [String] {
    var headers: [String] = []
    for (number, line) in try lines(of: path, readers).enumerated() {
      if line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") { continue }
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
        line[..<colon].utf8.allSatisfy(isOfName), !line.utf8.contains(where: { $0 == 13 || $0 == 0 })
      else { throw .unusable("cannot use \(path): line \(number + 1) is not of the form `Name: value`") }
      headers.append(String(line))
    }
    return headers
  }

  /// The first line, of the form `user:password`.
  package static func login(in path: String, for readers: Readers = .owner) throws(ExchangeFailure) -> HTTPRequest.Login
  {
    let line = try lines(of: path, readers).first ?? ""
    guard let colon = line.firstIndex(of: ":"), !line.utf8.contains(0) else {
      throw .unusable("cannot use \(path): its first line is not of the form `user:password`")
    }
    return .password(name: String(line[..<colon]), password: String(line[line.index(after: colon)...]))
  }

  /// What the caller's ~/.netrc says, which is libcurl's to read, once it is sure that others may not.
  package static func netrc() throws(ExchangeFailure) -> HTTPRequest.Login {
    guard let home = getenv("HOME") else { throw .unusable("cannot find ~/.netrc: HOME is not set") }
    _ = try text(of: "\(String(cString: home))/.netrc")
    return .netrc
  }

  private static func lines(of path: String, _ readers: Readers) throws(ExchangeFailure) -> [Substring] {
    // A carriage return and a line feed are one character in Swift.
    try text(of: path, for: readers).split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
  }

  private static let limit = 64 << 10

  /// Whether a byte may be in the name of a field (RFC 9110 section 5.6.2).
  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}

extension ExchangeFailure {
  /// A file that the request cannot do without is not as it must be.
  fileprivate static func unusable(_ message: String) -> ExchangeFailure {
    ExchangeFailure(kind: .permanent, message: message)
  }
}
