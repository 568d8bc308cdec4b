import RefreshAPI
import RefreshEngine
import Varlink

/// The open `Attach` calls, by app.
struct Attachments {
  typealias AttachCall = Call<AppInterface.Attach.Parameters>

  struct Attachment {
    /// The lease of `launched` that the call holds.
    let lease: LeaseID
    let call: AttachCall
    /// The token of the refresh that the process neither completed nor left; nil while it is not late.
    var lateToken: String?
  }

  /// By app, in order of attaching.
  private var open: [AppID: [Attachment]] = [:]
  /// The apps of which the engine knows that a process performs their refreshes.
  private var served: Set<AppID> = []

  /// The apps that have any, in order of id.
  var apps: [AppID] { open.keys.sorted() }

  /// The attachments of an app, in order of attaching.
  func of(_ app: AppID) -> [Attachment] { open[app] ?? [] }

  /// The attachment with this lease; nil when its connection is gone.
  subscript(lease: LeaseID, of app: AppID) -> Attachment? { of(app).first { $0.lease == lease } }

  mutating func add(_ attachment: Attachment, of app: AppID) {
    open[app, default: []].append(attachment)
  }

  mutating func remove(_ lease: LeaseID, of app: AppID) {
    open[app]?.removeAll { $0.lease == lease }
    if open[app]?.isEmpty == true { open[app] = nil }
  }

  /// Takes note that a process did not end a refresh in time.
  mutating func setLate(_ lease: LeaseID, of app: AppID, token: String) {
    guard let index = open[app]?.firstIndex(where: { $0.lease == lease }) else { return }
    open[app]?[index].lateToken = token
  }

  /// Takes note that the process that was late with this token lives, and gives its app; nil if this user has none.
  mutating func setAlive(by token: String, _ peer: Peer) -> AppID? {
    for (app, attachments) in open {
      guard
        let index = attachments.firstIndex(where: { $0.lateToken == token && $0.call.peer.uid == peer.uid })
      else { continue }
      open[app]?[index].lateToken = nil
      return app
    }
    return nil
  }

  /// Keeps what the engine is told of an app; gives whether that is news.
  mutating func note(_ isServed: Bool, of app: AppID) -> Bool {
    isServed ? served.insert(app).inserted : served.remove(app) != nil
  }
}
