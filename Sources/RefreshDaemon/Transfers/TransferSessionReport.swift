import JSON
import RefreshAPI
import RefreshEngine

/// A line on an app's standard input about one transfer of an ended session.
private struct SessionReportLine: JSONWritable {
  let url: String
  let path: String
  let outcome: String
  let bytes: Int64
  let sha256: String?
  let description: String?
  let message: String?

  /// Writes the members that are not nil.
  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("bytes", bytes)
    json.member("description", description)
    json.member("message", message)
    json.member("outcome", outcome)
    json.member("path", path)
    json.member("sha256", sha256)
    json.member("url", url)
    json.endObject()
  }
}

extension TransferRunner {
  /// The lines of JSON for the transfers of the session that a refresh reports; nil for another refresh.
  func sessionReport(deliveredBy refresh: RefreshID, to app: AppID, in engine: Engine) -> String? {
    guard let started = engine.started(of: refresh), started.session != nil else { return nil }
    return engine.transfers(deliveredBy: started, to: app).compactMap { id -> String? in
      guard let transfer = self[id], case .ended(let result, _) = engine.transferState(of: id)?.stage else {
        return nil
      }
      let line = SessionReportLine(
        url: transfer.shownURL, path: transfer.request.path, outcome: result.rawValue, bytes: transfer.bytes,
        sha256: transfer.progress.sha256, description: transfer.request.description,
        message: transfer.progress.message)
      do { return try line.jsonText(.line) + "\n" } catch { return nil }
    }.joined()
  }
}
