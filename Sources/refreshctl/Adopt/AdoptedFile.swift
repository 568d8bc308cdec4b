@preconcurrency import Glibc

/// The file of an app that replaces a timer.
struct AdoptedFile {
  let path: String

  var isThere: Bool { access(path, F_OK) == 0 }

  /// The directory of app files that people write: the machine's, or the user's own.
  static func folder(isUser: Bool) -> String {
    guard isUser else { return "/etc/refreshd/apps.d" }
    let home = environmentVariable("HOME") ?? "/"
    return "\(environmentVariable("XDG_CONFIG_HOME") ?? "\(home)/.config")/refreshd/apps.d"
  }

  /// Writes a new file, and creates missing parent directories.
  func create(_ text: String) throws(Failure) {
    var folder = ""
    for part in path.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o755)
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure("write") }
    defer { close(descriptor) }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else {
        let failure = failure("write")
        unlink(path)
        throw failure
      }
      bytes = bytes.dropFirst(count)
    }
  }

  func text() throws(Failure) -> String {
    guard let file = fopen(path, "re") else { throw failure("read") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Renames the file so that no daemon reads it, and returns the new path.
  func setAside() throws(Failure) -> String {
    let aside = "\(path).unadopted"
    guard rename(path, aside) == 0 else { throw failure("rename") }
    return aside
  }

  func remove() throws(Failure) {
    guard unlink(path) == 0 else { throw failure("remove") }
  }

  private func failure(_ act: String) -> Failure {
    let code = errno
    let remedy = code == EACCES || code == EPERM ? "; run it as root, or with --user for your own timers" : ""
    return Failure(
      status: code == EACCES || code == EPERM ? .notAllowed : .failed,
      text: "cannot \(act) \(path): \(errorText(code))\(remedy)")
  }
}
