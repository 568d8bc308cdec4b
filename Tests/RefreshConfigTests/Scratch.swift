import Foundation
import RefreshConfig

/// A directory for a single test, removed afterwards.
final class Scratch {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "refreshd-config-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      print("cannot remove \(path): \(error)")
    }
  }

  /// Writes a file, with the directories that lead to it.
  func write(_ file: String, _ text: String) throws { try write(file, bytes: Array(text.utf8)) }

  /// Writes a file of any bytes, with the directories that lead to it.
  func write(_ file: String, bytes: [UInt8]) throws {
    try makeDirectories(to: file)
    try Data(bytes).write(to: URL(filePath: "\(path)/\(file)"))
  }

  /// Makes a symbolic link, with the directories that lead to it.
  func link(_ file: String, to target: String) throws {
    try makeDirectories(to: file)
    try FileManager.default.createSymbolicLink(atPath: "\(path)/\(file)", withDestinationPath: target)
  }

  func makeDirectories(to file: String) throws {
    try FileManager.default.createDirectory(
      at: URL(filePath: "\(path)/\(file)").deletingLastPathComponent(), withIntermediateDirectories: true)
  }

  /// The configuration that `--config` of this directory loads.
  func load(as reader: Reader = .anybody) throws(ConfigurationError) -> Configuration {
    try Configuration.load(from: .directory(path), as: reader)
  }

  /// The problems of the configuration, a line each, with paths relative to this directory; empty if there are none.
  func problems(as reader: Reader = .anybody) -> [String] {
    do throws(ConfigurationError) {
      _ = try load(as: reader)
      return []
    } catch {
      return error.problems.map { "\($0)".replacing("\(path)/", with: "").replacing(path, with: ".") }
    }
  }
}

extension Scratch {
  /// Writes a `push.toml` with a file mode, by default readable only by its owner.
  func writePush(_ text: String, mode: Int = 0o600) throws {
    try write("push.toml", text)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/push.toml")
  }

  /// The sources of `push.toml`.
  func sources() throws(ConfigurationError) -> [PushSource] {
    try PushConfiguration.load(from: .directory(path), home: "/home/ann").sources
  }

  /// The problems of `push.toml`, in the form of ``problems(as:)``.
  func pushProblems() -> [String] {
    do throws(ConfigurationError) {
      _ = try sources()
      return []
    } catch {
      return error.problems.map { "\($0)".replacing("\(path)/", with: "") }
    }
  }
}

extension Reader {
  /// The system's daemon as root, on a machine with programs only below `/usr/bin`.
  static let anybody = Reader(uid: 0, isProgram: { $0.hasPrefix("/usr/bin/") })
}
