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
    "local_endpoints_not_supported",
  ]
  /// The reasons of `replication_auth_error` that mean a refused login; a server that is away has others.
  private static let refusedLogins = [
    "session_request_unauthorized", "session_requires_valid_user", "session_request_forbidden",
  ]
  /// Another client has just created the target; the next try finds it.
  private static let passing: Set<String> = ["file_exists", "db_exists"]
  /// The longest server text that a message repeats.
  private static let longestWords = 130

  let head: ResponseHead
  /// The JSON of the body; nil if the body is not JSON.
  let value: JSONValue?
  let host: String
  let order: Wire.ReplicationOrder

  init(_ head: ResponseHead, body: [UInt8], host: String, to order: Wire.ReplicationOrder) {
    (self.head, self.host, self.order) = (head, host, order)
    value = JSONValue.lenient(body)
  }

  /// The result at an instant of the wall clock, in seconds.
  func result(at now: Int64) -> TaskResult {
    switch head.status {
    case 200...299: outcome
    case 300...399:
      failure("\(host) answers with a redirect (\(head.status))", remedy: "put its own URL in server")
    default: refusal(at: now)
    }
  }

  private var outcome: TaskResult {
    guard let value, case .object = value else {
      return failure(
        "cannot use the answer of \(host): it is not JSON", remedy: "check that server is the URL of a CouchDB",
        isTemporary: true)
    }
    let isUnchanged = value["no_changes"] == .flag(true)
    let history = ReplicationHistory(value)
    guard let latest = history.sessions.first ?? (isUnchanged ? ReplicationHistory.beginning : nil) else {
      return failure("cannot find the result of the replication in the answer of \(host)", isTemporary: true)
    }
    // This includes the documents of a replication whose end was not observed: its session is newer than the reported one.
    let base =
      history.session(order.reported)
      ?? (isUnchanged ? latest : history.sessions.dropFirst().first ?? ReplicationHistory.beginning)
    let (written, refused) = (latest.written - base.written, latest.refused - base.refused)
    let message = [
      written > 0 ? "\(documents(written)) written" : nil,
      refused > 0 ? "\(documents(refused)) refused by the target" : nil,
    ].compactMap(\.self).joined(separator: ", ")
    let isReported = latest.id == order.reported
    return TaskResult(
      written > 0 ? .newData : .noData, message.isEmpty ? isUnchanged ? "no changes" : "nothing to write" : message,
      remembered: isReported ? nil : .init(url: nil, etag: latest.id, lastModified: nil, digest: nil))
  }

  /// The failure of a status that is an error.
  private func refusal(at now: Int64) -> TaskResult {
    let error = value?["error"]?.words
    let isPassing = error.map(Self.passing.contains) ?? false
    let isLasting = error.map(Self.lasting.contains) ?? false || isOfLogin || isOfSelector
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
    guard let error else { return "HTTP status \(head.status), without an answer of CouchDB" }
    let reason = reason.isEmpty ? "" : ": \(reason)"
    return "\(head.status) " + (error + reason).prefix(Self.longestWords)
  }

  /// The reason in one line, because CouchDB breaks and indents the terms of Erlang.
  private var reason: String {
    (value?["reason"]?.words ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private var isOfLogin: Bool { Self.refusedLogins.contains { reason.hasPrefix("{\($0),") } }

  private var isOfSelector: Bool { reason.hasPrefix("{mango_error,") }

  private func remedy(_ error: String?) -> String? {
    switch (head.status, error) {
    case (401, _), (403, _), (_, "unauthorized"), (_, "forbidden"): "check the credential files"
    case _ where isOfLogin: "check the credential files"
    case _ where isOfSelector: "correct the selector"
    case (_, "db_not_found"), (404, .some):
      order.createTarget ? "check both URLs" : "check both URLs, or write create_target = true"
    case (404, nil): "check that server is the URL of a CouchDB"
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
  /// The value of a JSON text; nil for any other text.
  static func lenient(_ text: [UInt8]) -> JSONValue? {
    do throws(JSONError) { return try JSONValue(jsonText: text) } catch { return nil }
  }

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

/// The sessions of a replication, the newest first, as CouchDB keeps them in its checkpoints and its answers.
///
/// A session's counts continue those of the session before it, so the documents of a session are the difference.
struct ReplicationHistory {
  /// A run of the job, which ends with the job or when the scheduler lets another job run.
  struct Session {
    let id: String
    let written: Int64
    let refused: Int64
  }

  /// Stands for the time before the first session.
  static let beginning = Session(id: "0", written: 0, refused: 0)

  /// The sessions that CouchDB has not forgotten, 50 at most; empty before the first.
  let sessions: [Session]

  /// Reads an answer or a checkpoint.
  init(_ value: JSONValue?) {
    guard case .list(let entries)? = value?["history"] else {
      sessions = []
      return
    }
    sessions = entries.compactMap { entry in
      guard case .text(let id)? = entry["session_id"] else { return nil }
      return Session(id: id, written: entry.count("docs_written"), refused: entry.count("doc_write_failures"))
    }
  }

  /// The session with an id; nil if `id` is nil, or if CouchDB has forgotten the session.
  func session(_ id: String?) -> Session? {
    id == Self.beginning.id ? Self.beginning : sessions.first { $0.id == id }
  }
}
