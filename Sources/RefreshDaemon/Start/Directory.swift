import Glibc
import RefreshAPI

/// A directory that the daemon makes for itself, with its missing parents.
struct Directory {
  let path: String
  /// Its name in messages, such as "state directory".
  let purpose: String
  /// The command-line option for another directory.
  let option: String

  /// Makes the directory if it is missing, with `mode` less the umask.
  func make(mode: mode_t) throws(ServiceError) {
    try make(path, mode)
  }

  private func make(_ path: String, _ mode: mode_t) throws(ServiceError) {
    if mkdir(path, mode) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { throw refusal(path) }
    try make(String(path[..<slash]), mode)
    guard mkdir(path, mode) == 0 || errno == EEXIST else { throw refusal(path) }
  }

  private func refusal(_ path: String) -> ServiceError {
    let reason = SystemCallError.text(of: errno)
    return ServiceError(.cannotCreate, "cannot make the \(purpose) \(path): \(reason); give another with \(option)")
  }
}
