import Glibc
import HTTP
import JSON
import RefreshAPI

/// The result of a replication by CouchDB's answer to `POST _replicate`.
struct ReplicationAnswer {
  /// CouchDB's words for errors that a retry would meet again.
  ///
  /// The status is not enough: an error of one of the databases may come as 500.
  private static let lasting: Set<String> = [
    "unauthorized", "forbidden", "not_found", "db_not_found", "bad_request", "illegal_database_name",
    "local_endpoints_not_supported", "invalid_selector",
  ]
  /// Another client has made the target meanwhile; the next try finds it.
  private static let passing: Set<String> = ["file_exists", "db_exists"]
  /// The longest server text that a message repeats.
  private static let longestWords = 110

  let head: ResponseHead
  /// The JSON of the body; nil if it is none.
  let value: JSONValue?
  let host: String

  init(_ head: ResponseHead, body: [UInt8], host: String) {
    (self.head, self.host) = (head, host)
    do throws(JSONError) { value = try JSONValue(jsonText: body) } catch { value = nil }
  }

  /// The result at an instant of the wall clock, in seconds.
  func result(at now: Int64) -> TaskResult {
    switch head.status {
    case 200...299: outcome
    case 300...399:
      failure("\(host) answers with a redirect (\(head.status))", remedy: "write its own URL into server")
    default: refusal(at: now)
    }
  }

  private var outcome: TaskResult {
    guard let value, case .object = value else {
      return failure(
        "cannot take the answer of \(host): it is no JSON", remedy: "see that server is the URL of a CouchDB",
        isTemporary: true)
    }
    if value["no_changes"] == .flag(true) { return TaskResult(.noData, "no changes") }
    guard case .text(let session)? = value["session_id"], case .list(let history)? = value["history"],
      let run = history.first(where: { $0["session_id"] == .text(session) })
    else {
      return value["ok"] == .text("stopped")
        ? failure("another has cancelled the replication in \(host)", isTemporary: true)
        : failure("cannot find the result of the replication in the answer of \(host)", isTemporary: true)
    }
    let (written, refused) = (run.count("docs_written"), run.count("doc_write_failures"))
    let message = [
      written > 0 ? "\(documents(written)) written" : nil,
      refused > 0 ? "\(documents(refused)) refused by the target" : nil,
    ].compactMap(\.self).joined(separator: ", ")
    return TaskResult(written > 0 ? .newData : .noData, message.isEmpty ? "nothing to write" : message)
  }

  /// The failure of a status that is an error.
  private func refusal(at now: Int64) -> TaskResult {
    let error = value?["error"]?.words
    let isPassing = error.map(Self.passing.contains) ?? false
    let isLasting = error.map(Self.lasting.contains) ?? false
    let mayPass =
      switch head.status {
      case 408, 425, 429, 500...599: !isLasting
      default: isPassing
      }
    var result = failure(
      "\(host) does not replicate: " + words(error), remedy: remedy(error), isTemporary: mayPass)
    if mayPass { result.retryAfter = head.retryAfter(now: now) }
    return result
  }

  private func words(_ error: String?) -> String {
    guard let error else { return "HTTP status \(head.status), without a word of CouchDB" }
    let reason = value?["reason"]?.words.map { ": \($0)" } ?? ""
    return "\(head.status) " + (error + reason).prefix(Self.longestWords)
  }

  private func remedy(_ error: String?) -> String? {
    switch (head.status, error) {
    case (401, _), (403, _), (_, "unauthorized"), (_, "forbidden"): "see the credential files"
    case (_, "db_not_found"), (404, .some): "see both URLs, or write create_target = true"
    case (404, nil): "see that server is the URL of a CouchDB"
    default: nil
    }
  }

  private func failure(_ message: String, remedy: String? = nil, isTemporary: Bool = false) -> TaskResult {
    var result = TaskResult(.failed, message + (remedy.map { "; \($0)" } ?? ""))
    result.isTemporary = isTemporary
    return result
  }
}

/// A number of documents in words.
func documents(_ count: Int64) -> String { count == 1 ? "1 document" : "\(count) documents" }

extension JSONValue {
  /// The member as a count; 0 for none.
  func count(_ name: String) -> Int64 {
    if case .number(let digits)? = self[name] { max(0, Int64(digits) ?? 0) } else { 0 }
  }

  /// A text without control characters; nil for any other value.
  var words: String? {
    guard case .text(let text) = self else { return nil }
    return String(text.prefix(1000).map { $0.isNewline || ($0.asciiValue ?? 0x20) < 0x20 ? " " : $0 })
  }
}
