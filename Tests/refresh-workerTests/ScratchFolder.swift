import FoundationEssentials
import Glibc
import Testing

@testable import refresh_worker

/// A temporary directory of one test, removed afterwards.
final class ScratchFolder {
  let path: String

  init() throws {
    var template = Array("/var/tmp/refresh-worker.XXXXXX".utf8CString)
    let made = try #require(mkdtemp(&template))
    path = String(cString: made)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func write(_ text: String, to name: String, mode: mode_t = 0o600) throws {
    let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, mode)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    fchmod(descriptor, mode)
    var text = text
    let written = text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    try #require(written == text.utf8.count)
  }

  func text(of name: String) -> String? {
    let descriptor = open("\(path)/\(name)", O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &bytes, bytes.count)
    return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }

  func status(of name: String) -> stat? {
    var status = stat()
    return lstat("\(path)/\(name)", &status) == 0 ? status : nil
  }
}

extension PartFile {
  func append(_ text: String) throws(TaskFailure) {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBytes { bytes -> Result<Void, TaskFailure> in
      do throws(TaskFailure) {
        return .success(try append(bytes, needed: nil))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
