import Glibc
import HTTP

/// The file that a fetch replaces by new content.
struct FetchTarget {
  /// The current content of the file.
  struct Content {
    /// The SHA-256, 64 hexadecimal digits.
    let digest: String
  }

  private let folder: Folder
  private let name: String
  /// The current content; nil if there is no file, or the owner may not read it.
  let content: Content?

  /// Reads the current content.
  ///
  /// Throws when the path to the folder has a symbolic link, or when the target is not a regular file.
  init(path: String) throws(TaskFailure) {
    let parts = try Folder.split(path)
    folder = try Folder(path: parts.folder)
    name = parts.name
    content = try Self.content(of: name, in: folder, path: path)
  }

  /// Makes an empty part file.
  func makePart() throws(TaskFailure) -> PartFile { try PartFile(.disposable, in: folder, for: name) }

  /// Replaces the file by the part and makes both the bytes and the name durable.
  func replace(by part: PartFile) throws(TaskFailure) {
    guard fsync(part.descriptor) == 0 else { throw TaskFailure(errno: errno, "write", part.ownPath) }
    try part.replaceTarget()
    if let code = FolderNames.makeDurable(in: folder.descriptor) {
      throw TaskFailure(errno: code, "write", folder.path)
    }
    PartMark.remove(from: part.descriptor)
  }

  private static func content(of name: String, in folder: Folder, path: String) throws(TaskFailure) -> Content? {
    var status = stat()
    guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw TaskFailure(errno: errno, "look at", path)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: throw TaskFailure(.failed, "cannot replace \(path): it is a symbolic link; give the real path")
    default: throw TaskFailure(.failed, "cannot replace \(path): it is not a plain file; give another path")
    }
    let descriptor = folder.openFile(name, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Content(digest: try SHA256.digest(of: descriptor, length: Int64(status.st_size), path: path))
  }
}

/// Writes the content of a response to a part file, decoded and up to a limit.
final class FetchBody {
  let part: PartFile
  private let digest: SHA256
  private let most: Int64
  /// Set if the content is compressed.
  private let gzip: GzipDecoder?

  /// Makes an empty part file.
  ///
  /// Throws when the announced length exceeds the limit, and when the content is encoded otherwise than by gzip.
  init(_ target: FetchTarget, _ head: ResponseHead, most: Int64) throws(TaskFailure) {
    let encodings = head.encodings
    guard !encodings.isEmpty || head.contentLength ?? 0 <= most else { throw .tooLong(most: most) }
    switch encodings {
    case []: gzip = nil
    case ["gzip"], ["x-gzip"]:
      do throws(ExchangeFailure) { gzip = try GzipDecoder() } catch { throw TaskFailure(error) }
    default:
      throw TaskFailure(
        .wrong, "cannot decode the answer: its Content-Encoding is \(encodings.joined(separator: ", "))")
    }
    digest = try SHA256()
    part = try target.makePart()
    self.most = most
  }

  /// Writes the next bytes; throws beyond the limit, when the disk is full, and when the bytes cannot be decoded.
  func append(_ bytes: UnsafeRawBufferPointer) throws(TaskFailure) {
    guard let gzip else { return try write(bytes) }
    let isGzip = try gzip.decode(bytes) { (decoded) throws(TaskFailure) in try write(decoded) }
    guard isGzip else { throw TaskFailure(.wrong, "cannot decode the answer: it is not in gzip's format") }
  }

  /// Ends the content and returns its SHA-256; throws if its format lacks the end.
  func finish() throws(TaskFailure) -> String {
    guard gzip?.isWhole ?? true else {
      throw TaskFailure(.wrong, "cannot decode the answer: the end of its gzip format is missing")
    }
    return digest.finish()
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(TaskFailure) {
    guard part.length + Int64(bytes.count) <= most else { throw .tooLong(most: most) }
    try part.append(bytes, needed: nil)
    digest.append(bytes)
  }
}

extension TaskFailure {
  /// The words for a body without a mark of its end.
  static let noEnd =
    "cannot tell whether the file is complete: the server gave no length, and the connection may have been cut"

  fileprivate static func tooLong(most: Int64) -> TaskFailure {
    TaskFailure(.failed, "cannot accept more than \(most) bytes; raise max_size if that is right")
  }
}

extension ResponseHead {
  /// The encodings of the content, in lower case, without the names that servers use by mistake for plain content.
  var encodings: [String] {
    list("content-encoding").map { $0.lowercased() }.filter {
      !["identity", "none", "utf-8", "aws-chunked"].contains($0)
    }
  }
}
