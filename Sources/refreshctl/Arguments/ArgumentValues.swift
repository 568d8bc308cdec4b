import ArgumentParser
@preconcurrency import Glibc
import RefreshConfig

/// A word of a wire enum as an argument, written with hyphens: `new-data` for `new_data`.
struct EnumArgument<Value>: ExpressibleByArgument
where Value: RawRepresentable<String> & CaseIterable & Sendable {
  let value: Value

  init?(argument: String) {
    guard let value = Value.allCases.first(where: { $0.hyphenated == argument }) else { return nil }
    self.value = value
  }

  static var allValueStrings: [String] { Value.allCases.map(\.hyphenated) }
}

/// Reads a duration in systemd's format.
@Sendable func readDuration(_ text: String) throws -> Duration {
  do throws(Unreadable) {
    return try Duration(systemd: text)
  } catch {
    throw ValidationError("\(error)")
  }
}

/// Reads an amount of data, such as `1.5MB`.
@Sendable func readByteSize(_ text: String) throws -> Int64 {
  do throws(Unreadable) {
    return try ByteSizes.bytes(text)
  } catch {
    throw ValidationError("\(error)")
  }
}

/// Checks the value of `--hours` here, because the daemon's reply would not name the bounds.
func checkHours(_ hours: Int) throws {
  guard (1...168).contains(hours) else {
    throw ValidationError("cannot look \(hours) hours ahead; give --hours from 1 to 168")
  }
}

/// The URL of an argument; `-` reads it from the first line of standard input, hidden from other users.
func readURL(_ argument: String) throws(Failure) -> String {
  guard argument == "-" else { return argument }
  guard let line = readLine(), !line.isEmpty else {
    throw Failure(
      status: .usage, text: "cannot read a URL from standard input: it is empty; write the URL as its first line")
  }
  return line
}

/// Absolute paths without symbolic links, because the daemon follows no links on behalf of others.
enum WholePath {
  /// The path of a download's target; in a folder, the target has the file name of the URL.
  static func target(_ path: String, of url: String) throws(Failure) -> String {
    var status = stat()
    if path.hasSuffix("/") || (stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR) {
      let name = fileName(of: url)
      guard !name.isEmpty else {
        throw Failure(
          status: .usage, text: "cannot name the file in \(path): the URL does not end with a name; give one in --to")
      }
      return try join(existing(path), name)
    }
    guard let slash = path.lastIndex(of: "/") else { return try join(existing("."), path) }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return try join(existing(folder), String(path[path.index(after: slash)...]))
  }

  /// The path of an existing file or folder.
  static func existing(_ path: String) throws(Failure) -> String {
    guard let real = realpath(path, nil) else {
      throw Failure(
        status: .notFound,
        text: "cannot use \(printable(path)): \(errorText(errno)); name an existing file or folder")
    }
    defer { free(real) }
    return String(cString: real)
  }

  /// The path of an existing plain file; only such a file can be uploaded.
  static func plainFile(_ path: String) throws(Failure) -> String {
    let whole = try existing(path)
    var status = stat()
    // The app's owner may be able to read a file that this command may not examine.
    guard stat(whole, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return whole }
    let kind = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "not a plain file"
    throw Failure(status: .usage, text: "cannot upload \(printable(path)): it is \(kind); name a file")
  }

  /// The text after the last slash of a URL, without query and fragment; empty if that is not the name of a file.
  static func fileName(of url: String) -> String {
    let path = url.prefix { $0 != "?" && $0 != "#" }
    guard let scheme = path.firstRange(of: "://") else { return "" }
    let parts = path[scheme.upperBound...].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 1, let name = parts.last, name != ".", name != ".." else { return "" }
    return String(name)
  }

  private static func join(_ folder: String, _ name: String) -> String {
    folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }
}
