import Glibc

/// Reads a file with secrets: a password, or header fields with a token.
package enum PrivateFile {
  /// The readers that a file with secrets may have in addition to root.
  package enum Readers: Hashable, Sendable {
    /// The owner, which must be the caller or root.
    case owner
    /// The owner and the caller's group, which must be the caller's own.
    case group
    /// Any, because systemd protects the file: a credential of the service (systemd.exec(5)).
    case service
  }

  /// The text of a file of at most 64 KiB, by its path or by a descriptor that the caller has opened and keeps.
  ///
  /// Throws when others than `readers` may read the file, or when neither the caller nor root owns it.
  package static func text(
    of path: String, opened: Int32? = nil, for readers: Readers = .owner
  ) throws(ExchangeFailure) -> String {
    let descriptor = opened ?? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw .unusable("cannot read \(path): \(String(cString: strerror(errno))); let user \(geteuid()) read it")
    }
    defer { if opened == nil { close(descriptor) } }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .unusable("cannot read \(path): it is not a plain file")
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
    let count = pread(descriptor, &bytes, bytes.count, 0)
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

  /// Reads header fields, a line `Name: value` each; blank lines and lines that begin with `#` are skipped.
  package static func headers(
    in path: String, opened: Int32? = nil, for readers: Readers = .owner
  ) throws(ExchangeFailure) -> [String] {
    var headers: [String] = []
    for (number, line) in try lines(of: path, opened, readers).enumerated() {
      if line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") { continue }
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
        line[..<colon].utf8.allSatisfy(isOfName), !line.utf8.contains(where: { $0 == 13 || $0 == 0 })
      else { throw .unusable("cannot use \(path): line \(number + 1) is not of the form `Name: value`") }
      headers.append(String(line))
    }
    return headers
  }

  /// Reads credentials from the first line, `user:password`.
  package static func login(
    in path: String, opened: Int32? = nil, for readers: Readers = .owner
  ) throws(ExchangeFailure) -> HTTPRequest.Login {
    let line = try lines(of: path, opened, readers).first ?? ""
    guard let colon = line.firstIndex(of: ":"), !line.utf8.contains(0) else {
      throw .unusable("cannot use \(path): its first line is not of the form `user:password`")
    }
    return .password(name: String(line[..<colon]), password: String(line[line.index(after: colon)...]))
  }

  /// The credentials of the caller's ~/.netrc, which libcurl reads.
  ///
  /// Throws when others may read that file.
  package static func netrc() throws(ExchangeFailure) -> HTTPRequest.Login {
    guard let home = getenv("HOME") else { throw .unusable("cannot find ~/.netrc: HOME is not set") }
    _ = try text(of: "\(String(cString: home))/.netrc")
    return .netrc
  }

  private static func lines(
    of path: String, _ opened: Int32?, _ readers: Readers
  ) throws(ExchangeFailure) -> [Substring] {
    // Swift treats a carriage return and a line feed as one character.
    try text(of: path, opened: opened, for: readers).split(omittingEmptySubsequences: false) {
      $0 == "\n" || $0 == "\r\n"
    }
  }

  private static let limit = 64 << 10

  /// Whether a field name may contain this byte (RFC 9110 section 5.6.2).
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
  /// The failure of a request whose file cannot be used.
  fileprivate static func unusable(_ message: String) -> ExchangeFailure {
    ExchangeFailure(kind: .permanent, message: message)
  }
}

/// A file that a library opens by its path.
package enum PlainFile {
  /// Checks that a file can be read and is a plain one; opening a pipe would wait forever for a writer.
  package static func check(_ path: String) throws(ExchangeFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw ExchangeFailure(
        kind: .permanent,
        message: "cannot read \(path): \(String(cString: strerror(errno))); let user \(geteuid()) read it")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ExchangeFailure(kind: .permanent, message: "cannot read \(path): it is not a plain file")
    }
  }
}
