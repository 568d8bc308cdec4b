import FoundationEssentials
import Glibc
import Testing

/// A temporary directory of one test, removed afterwards.
final class Scratch {
  let path: String

  init() throws {
    var template = Array("/var/tmp/refresh-http.XXXXXX".utf8CString)
    path = String(cString: try #require(mkdtemp(&template)))
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func write(_ text: String, to name: String, mode: mode_t = 0o600) throws {
    try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
    try #require(chmod("\(path)/\(name)", mode) == 0)
  }
}
