import RefreshAPI
import RefreshEngine

/// A line on an app's standard input about one transfer of a session that has ended.
private struct SessionReportLine: Encodable {
  let url: String
  let path: String
  let outcome: String
  let bytes: Int64
  let sha256: String?
  let description: String?
  let message: String?

  private enum CodingKeys: String, CodingKey {
    case url, path, outcome, bytes, sha256, description, message
  }

  // By hand, so that nil becomes `null` and each line has the same keys.
  func encode(to encoder: any Encoder) throws {
    var line = encoder.container(keyedBy: CodingKeys.self)
    try line.encode(url, forKey: .url)
    try line.encode(path, forKey: .path)
    try line.encode(outcome, forKey: .outcome)
    try line.encode(bytes, forKey: .bytes)
    try line.encode(sha256, forKey: .sha256)
    try line.encode(description, forKey: .description)
    try line.encode(message, forKey: .message)
  }
}

extension TransferRunner {
  /// The lines of JSON for the transfers of the session that a refresh reports; nil for another refresh.
  func sessionReport(toldBy refresh: RefreshID, to app: AppID, in engine: Engine) -> String? {
    guard let started = engine.started(of: refresh), started.session != nil else { return nil }
    return engine.transfers(toldBy: started, to: app).compactMap { id -> String? in
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
