import JSON
import RefreshAPI

/// How far a replication is, by the list of CouchDB's running tasks (`GET _active_tasks`).
///
/// Only an administrator of CouchDB may read the list.
enum ActiveReplication {
  /// The most tasks of the list that are examined.
  private static let most = 1000

  /// The progress in words; nil if the replication is not in the list, or if the body is no list.
  static func progress(in body: [UInt8], of order: Wire.ReplicationOrder) -> String? {
    let value: JSONValue
    do throws(JSONError) { value = try JSONValue(jsonText: body) } catch { return nil }
    guard case .list(let tasks) = value,
      let task = tasks.prefix(most).first(where: { task in
        task["type"] == .text("replication") && isSame(task["source"], order.source.url)
          && isSame(task["target"], order.target.url)
      })
    else { return nil }
    let pending = task.count("changes_pending")
    return "\(documents(task.count("docs_written"))) written" + (pending > 0 ? ", \(pending) changes to come" : "")
  }

  /// Whether a member is the URL of a database, which CouchDB shows with a slash at its end.
  private static func isSame(_ member: JSONValue?, _ url: String) -> Bool {
    guard case .text(let text) = member else { return false }
    return text == url || text == "\(url)/"
  }
}
