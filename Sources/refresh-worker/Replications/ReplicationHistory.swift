import JSON

/// The sessions of a replication, the newest first, as CouchDB keeps them in its checkpoints and its answers.
///
/// A session's counts continue those of the session before it, so only the difference of two says what came between.
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

  /// The session with an id; nil for none, or if CouchDB has forgotten it.
  func session(_ id: String?) -> Session? {
    id == Self.beginning.id ? Self.beginning : sessions.first { $0.id == id }
  }
}
