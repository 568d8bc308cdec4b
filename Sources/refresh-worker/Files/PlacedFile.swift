import CLinux
import Glibc
import RefreshAPI

/// A target that holds the whole file already, because the worker was killed after it had put it there.
final class PlacedFile {
  let folder: Folder
  let name: String
  let descriptor: Int32
  let length: Int64

  /// Opens it; nil if what is there, if anything, is not the file that was the part.
  ///
  /// It is the same file, by its mark and length: the part took the name of the target and stayed itself.
  init?(in folder: Folder, named name: String, of resume: Wire.Resume?) {
    guard let resume, let mark = resume.partMark, let total = resume.total else { return nil }
    let descriptor = linux_open_at(folder.descriptor, name, O_RDONLY, 0)
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
