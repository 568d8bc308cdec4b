import RefreshAPI
import RefreshEngine
import Varlink

/// The open calls by which processes of apps perform the refreshes of these apps (FEATURES B6).
struct Attachments {
  typealias AttachCall = Call<AppInterface.Attach.Parameters>

  /// One of them.
  struct Attachment {
    /// The lease of `launched` that it is.
    let lease: LeaseID
    let call: AttachCall
    /// The token of the refresh that it neither completed nor left; nil while it is not late.
    var lateToken: String?
  }

  /// By app, in order of attaching.
  private var open: [AppID: [Attachment]] = [:]
  /// The apps of which the engine knows that a process performs their refreshes.
  private(set) var served: Set<AppID> = []

  /// The apps that have any, in order of id.
  var apps: [AppID] { open.keys.sorted() }

  /// Those of an app, in order of attaching.
  func of(_ app: AppID) -> [Attachment] { open[app] ?? [] }

  /// The one that is this lease; nil when its connection is gone.
  subscript(lease: LeaseID, of app: AppID) -> Attachment? { of(app).first { $0.lease == lease } }

  /// Keeps one more.
  mutating func add(_ attachment: Attachment, of app: AppID) {
    open[app, default: []].append(attachment)
  }

  /// Forgets one, when its connection is gone.
  mutating func remove(_ lease: LeaseID, of app: AppID) {
    open[app]?.removeAll { $0.lease == lease }
    if open[app]?.isEmpty == true { open[app] = nil }
  }

  /// Takes note that one did not end a refresh when it had to.
  mutating func setLate(_ lease: LeaseID, of app: AppID, token: String) {
    guard let place = open[app]?.firstIndex(where: { $0.lease == lease }) else { return }
    open[app]?[place].lateToken = token
  }

  /// Takes note that the one that was late with this token lives, and gives its app; nil if there is none of this user.
  mutating func setAlive(by token: String, _ peer: Peer) -> AppID? {
    for (app, attachments) in open {
      guard
        let place = attachments.firstIndex(where: { $0.lateToken == token && $0.call.peer.uid == peer.uid })
      else { continue }
      open[app]?[place].lateToken = nil
      return app
    }
    return nil
  }

  /// Takes note of what the engine is told of an app; gives whether that is news.
  mutating func note(_ isServed: Bool, of app: AppID) -> Bool {
    isServed ? served.insert(app).inserted : served.remove(app) != nil
  }
}
