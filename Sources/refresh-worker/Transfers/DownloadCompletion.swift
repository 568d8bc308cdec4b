import HTTP
import RefreshAPI

/// The end of a download: verifies the file, replaces the target, and reports.
extension Download {
  /// Verifies the whole file, makes it durable and replaces the target.
  func put(_ part: PartFile) {
    isReplacing = true
    let wanted = assignment.sha256?.lowercased()
    if let digest, let wanted, digest.finish() != wanted { return judgeReplacement(.otherDigest(part.path), of: part) }
    let replacement = Disk.Replacement(
      descriptor: part.descriptor, folder: part.folder.descriptor, name: part.name, path: part.path,
      length: part.length, digest: digest == nil ? wanted : nil)
    host.reports.add(Wire.TransferReport(id: id, kind: .fetched, bytes: part.length, total: part.length))
    host.disk.run(.replace(replacement)) { [self] in judgeReplacement($0, of: part) }
  }

  /// Ends with a target that an earlier worker replaced before its report; downloads the file again if it is wrong.
  func confirm(_ completed: CompletedFile) {
    isReplacing = true
    let replacement = Disk.Replacement(
      descriptor: completed.descriptor, folder: completed.folder.descriptor, name: nil, path: assignment.path,
      length: completed.length, digest: assignment.sha256?.lowercased())
    // The closure captures the file to keep its descriptor open.
    host.disk.run(.replace(replacement)) { [self, completed] failure in
      guard failure != nil else {
        return reportDone(completed.length) { [completed] in PartMark.remove(from: completed.descriptor) }
      }
      isReplacing = false
      if let pendingStop { return end(pendingStop) }
      do throws(TaskFailure) {
        try fetch(completed.name, into: completed.folder)
      } catch {
        end(error)
      }
    }
  }

  /// Reports the end, and removes the mark of the file only then: after a crash the next worker knows the file by its mark.
  private func reportDone(_ length: Int64, removingMark: @escaping () -> Void) {
    over(
      Wire.TransferReport(
        id: id, kind: .ended, bytes: length, total: length, end: .done, sha256: assignment.sha256?.lowercased()),
      onSaved: removingMark)
  }

  func judgeReplacement(_ failure: TaskFailure?, of part: PartFile) {
    guard let failure else { return reportDone(part.length) { [part] in PartMark.remove(from: part.descriptor) } }
    isReplacing = false
    let isWorthless = failure.kind == .failed || failure.kind == .wrong
    if let pendingStop { return end(isWorthless ? .discarding : pendingStop) }
    guard isWorthless else { return end(failure) }
    // A file that came in several exchanges may have been joined wrongly, so download it once as a whole.
    if failure.kind == .wrong, digest == nil, mayRestart { return restart() }
    part.remove()
    end(failure)
  }

  func end(_ failure: TaskFailure) {
    let (bytes, total) = progress
    let isKept = failure.kind != .failed && failure.kind != .wrong
    // Nothing is known of a part that could not be opened.
    let known = isKept && part == nil ? nil : bytes
    let report = Wire.TransferReport(id: id, failure: failure, bytes: known, total: total)
    // The next try looks for nothing in a folder that its path does not lead to.
    if !isKept || bytes == 0 || part?.folder.isSuperseded == true { part?.remove() }
    endKeeping(report, isKept: isKept)
  }

  /// Ends by an order to stop.
  func end(_ stop: Stop) {
    if stop == .discarding { part?.remove() }
    let bytes = stop == .discarding ? 0 : progress.bytes
    endKeeping(
      Wire.TransferReport(id: id, kind: .ended, bytes: bytes, total: progress.total, end: .stopped),
      isKept: stop == .keeping)
  }

  /// Ends once the kept bytes are durable, so that they survive a power loss before the next try.
  func endKeeping(_ report: Wire.TransferReport, isKept: Bool) {
    guard isKept, let part, part.length > 0, version?.validator != nil else { return over(report) }
    isOver = true
    host.disk.run(.sync(descriptor: part.descriptor, path: part.path)) { [self] failure in
      if failure == nil { reportBegan(durable: part.length) }
      over(report)
    }
  }

  func over(_ report: Wire.TransferReport, onSaved: @escaping () -> Void = {}) {
    isOver = true
    part = nil
    host.ended(self, report, onSaved: onSaved)
  }
}
