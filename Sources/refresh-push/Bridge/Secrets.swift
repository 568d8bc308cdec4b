import Glibc
import HTTP

/// The files with secrets that push.toml names.
struct Secrets: Hashable, Sendable {
  /// Whether it is the bridge of the whole machine, which has a group of its own.
  let isOfMachine: Bool
  /// Where the credentials of the service are (`LoadCredential=`, systemd.exec(5)); nil where there are none.
  let credentials: String?

  /// Header fields that are to be sent along, of lines `Name: value`.
  func headers(in name: String) throws(ExchangeFailure) -> [String] {
    let place = try place(of: name)
    return try PrivateFile.headers(in: place.path, for: place.readers)
  }

  /// The user and the password of a line `user:password`.
  func login(in name: String) throws(ExchangeFailure) -> HTTPRequest.Login {
    let place = try place(of: name)
    return try PrivateFile.login(in: place.path, for: place.readers)
  }

  /// The token that is the first line; nil if that is `user:password`.
  func token(in name: String) throws(ExchangeFailure) -> String? {
    let place = try place(of: name)
    let line = try PrivateFile.text(of: place.path, for: place.readers).prefix { !$0.isNewline }
    guard !line.contains(":") else { return nil }
    guard !line.isEmpty, line.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw ExchangeFailure(
        kind: .permanent, message: "cannot use \(place.path): its first line is neither a token nor `user:password`")
    }
    return String(line)
  }

  /// The path of a file that is read by somebody else in this process, once it is sure that others may not read it.
  func path(of name: String) throws(ExchangeFailure) -> String {
    let place = try place(of: name)
    _ = try PrivateFile.text(of: place.path, for: place.readers)
    return place.path
  }

  /// Where a file is that is named by its path, or as a credential by its name alone.
  private func place(of name: String) throws(ExchangeFailure) -> (path: String, readers: PrivateFile.Readers) {
    if name.hasPrefix("/") { return (name, isOfMachine ? .group : .owner) }
    guard let credentials else {
      throw ExchangeFailure(
        kind: .permanent,
        message: "cannot find the credential \(name): the service has none; write LoadCredential=\(name):PATH into its "
          + "unit, or a whole path into push.toml")
    }
    return ("\(credentials)/\(name)", .service)
  }
}
