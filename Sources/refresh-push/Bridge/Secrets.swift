import FoundationEssentials
import HTTP

/// The files with secrets that push.toml names.
struct Secrets: Hashable, Sendable {
  /// Whether the bridge serves the whole machine and has a group of its own.
  let isOfMachine: Bool
  /// The directory of the service's credentials (`LoadCredential=`, systemd.exec(5)); nil for none.
  let credentials: String?

  /// The header fields of a file with lines `Name: value`.
  func headers(in name: String) throws(ExchangeFailure) -> [String] {
    let location = try location(of: name)
    return try PrivateFile.headers(in: location.path, for: location.readers)
  }

  /// The user and the password of a line `user:password`.
  func login(in name: String) throws(ExchangeFailure) -> HTTPRequest.Login {
    let location = try location(of: name)
    return try PrivateFile.login(in: location.path, for: location.readers)
  }

  /// The token in the first line; nil if the line is `user:password`.
  private func token(in name: String) throws(ExchangeFailure) -> String? {
    let location = try location(of: name)
    let line = try PrivateFile.text(of: location.path, for: location.readers).prefix { !$0.isNewline }
    guard !line.contains(":") else { return nil }
    guard !line.isEmpty, line.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw ExchangeFailure(
        kind: .permanent, message: "cannot use \(location.path): its first line is neither a token nor `user:password`")
    }
    return String(line)
  }

  /// The header field that authorizes with a file that has a token or `user:password`.
  ///
  /// The first request needs the field, because ntfy answers an anonymous request with 403, not with a challenge.
  func authorization(in file: String) throws(ExchangeFailure) -> String {
    if let token = try token(in: file) { return "Authorization: Bearer \(token)" }
    guard case .password(let name, let password) = try login(in: file) else { return "" }
    return "Authorization: Basic \(Data("\(name):\(password)".utf8).base64EncodedString())"
  }

  /// The path of a file for a library to read, after the check that other users may not read the file.
  func path(of name: String) throws(ExchangeFailure) -> String {
    let location = try location(of: name)
    _ = try PrivateFile.text(of: location.path, for: location.readers)
    return location.path
  }

  /// The path of a file that push.toml names by path, or by name as a credential, with its allowed readers.
  private func location(of name: String) throws(ExchangeFailure) -> (path: String, readers: PrivateFile.Readers) {
    if name.hasPrefix("/") { return (name, isOfMachine ? .group : .owner) }
    guard let credentials else {
      throw ExchangeFailure(
        kind: .permanent,
        message:
          "cannot find the credential \(name): the service does not have it; put LoadCredential=\(name):PATH in its "
          + "unit, or an absolute path in push.toml")
    }
    return ("\(credentials)/\(name)", .service)
  }
}
