import JSON
import RefreshAPI

/// A job in CouchDB's scheduler, by `GET _scheduler/jobs`.
struct ReplicationJob {
  let id: String
  /// The documents that it and the sessions before it have written.
  let written: Int64
  /// The changes that it and the sessions before it have compared with the target.
  let checked: Int64
  /// The changes that are still to be compared; nil until CouchDB has counted them, which it does every 30 s.
  let pending: Int64?

  /// Reads an element of the list of jobs; nil for anything else.
  init?(_ value: JSONValue?) {
    guard let value, case .text(let id)? = value["id"] else { return nil }
    self.id = id
    let info = value["info"]
    written = info?.count("docs_written") ?? 0
    checked = info?.count("revisions_checked") ?? 0
    pending = if case .number(let digits)? = info?["changes_pending"] { Int64(digits) } else { nil }
  }

  /// The jobs that replicate the databases of an order, which may have other selectors; nil without a whole list.
  static func jobs(of order: Wire.ReplicationOrder, in list: JSONValue?) -> [ReplicationJob]? {
    guard let list, case .list(let jobs)? = list["jobs"], list.count("total_rows") <= jobs.count else { return nil }
    return jobs.filter { isSame($0["source"], order.source.url) && isSame($0["target"], order.target.url) }
      .compactMap { ReplicationJob($0) }
  }

  /// Whether a member is the URL of a database, which CouchDB shows with a slash at its end.
  private static func isSame(_ member: JSONValue?, _ url: String) -> Bool {
    guard case .text(let text)? = member else { return false }
    return text == url || text == "\(url)/"
  }
}
