import HTTP
import RefreshAPI

/// How a download ends, when its server has said what it had to: with a whole file in its place, or with what is kept of it.
extension Download {
  func takeEnd(_ end: Exchange.End, isExplicit: Bool) {
    switch end {
    case .stopped: act(on: answer)
    case .failed(let failure, _):
      // A broken connection says nothing against what was asked for and judged.
      switch answer {
      case .ends, .isElsewhere: act(on: answer)
      default: self.end(Trouble(failure))
      }
    case .whole(let head):
      guard case .begins? = answer else {
        if case .continues? = answer { return judgeEnd(isExplicit: true) }
        return act(on: answer)
      }
      judgeEnd(isExplicit: isExplicit || head.isChunked || head.contentLength != nil)
    }
  }

  private func act(on answer: DownloadAnswer?) {
    guard let part else { return }
    switch answer {
    case .isWhole: put(part)
    case .startsAnew: startAnew()
    case .isElsewhere(let location): follow(location)
    case .ends(let trouble): end(trouble)
    case .begins, .continues, nil:
      end(Trouble(.retry(after: nil), "cannot finish \(part.path): the answer ended before it began"))
    }
  }

  private func judgeEnd(isExplicit: Bool) {
    guard let part else { return }
    let total = version?.total ?? question.total
    switch DownloadEnd(have: part.length, total: total, isExplicit: isExplicit, question: question) {
    case .isWhole: put(part)
    case .startsAnew: startAnew()
    case .ends(let trouble):
      part.remove()
      self.part = nil
      end(trouble)
    case .lacksRest:
      guard part.length > bytesAtAsking, version?.validator != nil else {
        return end(Trouble(.retry(after: nil), "cannot finish \(part.path): the answer ended too early"))
      }
      do throws(Trouble) {
        try ask()
      } catch {
        end(error)
      }
    }
  }

  /// Has the whole file checked, made durable and put into its place.
  func put(_ part: PartFile) {
    isPlacing = true
    let wanted = assignment.sha256?.lowercased()
    if let digest, let wanted, digest.finish() != wanted { return judgePlacing(.otherDigest(part.path), of: part) }
    let placement = Disk.Placement(
      descriptor: part.descriptor, folder: part.folder.descriptor, name: part.name, path: part.path,
      length: part.length, digest: digest == nil ? wanted : nil)
    place.reports.add(Wire.TransferReport(id: id, kind: .fetched, bytes: part.length, total: part.length))
    place.disk.run(.place(placement)) { [self] in judgePlacing($0, of: part) }
  }

  /// Ends with a file that was put into place before its worker could tell; if it is not right, it is fetched again.
  func confirm(_ placed: PlacedFile) {
    isPlacing = true
    let placement = Disk.Placement(
      descriptor: placed.descriptor, folder: placed.folder.descriptor, name: nil, path: assignment.path,
      length: placed.length, digest: assignment.sha256?.lowercased())
    // The file is named here so that its descriptor is open until then.
    place.disk.run(.place(placement)) { [self, placed] trouble in
      guard trouble != nil else { return tellDone(placed.length) }
      isPlacing = false
      if let lateStop { return end(lateStop) }
      do throws(Trouble) {
        try fetch(placed.name, into: placed.folder)
      } catch {
        end(error)
      }
    }
  }

  private func tellDone(_ length: Int64) {
    over(
      Wire.TransferReport(
        id: id, kind: .ended, bytes: length, total: length, end: .done, sha256: assignment.sha256?.lowercased()))
  }

  func judgePlacing(_ trouble: Trouble?, of part: PartFile) {
    guard let trouble else { return tellDone(part.length) }
    isPlacing = false
    if let lateStop { return end(trouble.kind == .failed ? .discarding : lateStop) }
    guard case .failed = trouble.kind else { return end(trouble) }
    // Of a file that came in pieces the pieces may be at fault, whatever the server said of them.
    if assignment.sha256 != nil, digest == nil, mayStartAnew { return startAnew() }
    part.remove()
    end(trouble)
  }

  func end(_ trouble: Trouble) {
    let (bytes, total) = progress
    let report = Wire.TransferReport(id: id, trouble: trouble, bytes: bytes, total: total)
    if trouble.kind == .failed || bytes == 0 { part?.remove() }
    endKeeping(report, isKept: trouble.kind != .failed)
  }

  /// Ends as it was told to.
  func end(_ stop: Stop) {
    if stop == .discarding { part?.remove() }
    let bytes = stop == .discarding ? 0 : progress.bytes
    endKeeping(
      Wire.TransferReport(id: id, kind: .ended, bytes: bytes, total: progress.total, end: .stopped),
      isKept: stop == .keeping)
  }

  /// Ends once what is there of it is durable, so that it is still there after days of waiting and a loss of power.
  func endKeeping(_ report: Wire.TransferReport, isKept: Bool) {
    guard isKept, let part, part.length > 0, version?.validator != nil else { return over(report) }
    isOver = true
    place.disk.run(.keep(descriptor: part.descriptor, path: part.path)) { [self] trouble in
      if trouble == nil { tellBegan(durable: part.length) }
      over(report)
    }
  }

  func over(_ report: Wire.TransferReport) {
    isOver = true
    part = nil
    place.ended(self, report)
  }
}
