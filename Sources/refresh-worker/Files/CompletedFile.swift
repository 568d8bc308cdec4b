import Glibc
import RefreshAPI

/// A target that is already the complete file, because the worker was killed between the rename and its report.
final class CompletedFile {
  let folder: Folder
  let name: String
  let descriptor: Int32
  let length: Int64

  /// Opens the target; nil unless it has the mark and the length of the part.
  ///
  /// The rename keeps the inode and its extended attributes, so the target still has the part's mark.
  init?(in folder: Folder, named name: String, of resume: Wire.Resume?) {
    guard let resume, let mark = resume.partMark, let total = resume.total else { return nil }
    let descriptor = folder.openFile(name, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      PartMark(of: descriptor)?.number == mark, Int64(status.st_size) == total
    else {
      close(descriptor)
      return nil
    }
    self.folder = folder
    self.name = name
    self.descriptor = descriptor
    length = total
  }

  deinit { close(descriptor) }
}
