import RefreshAPI
import RefreshEngine
import RefreshStore
import Systemd

// Journal entries about pushes; of a payload they contain only the content id.

extension DaemonJournal {
  func accepted(_ contentID: String?, of app: AppID, _ fate: Wire.PushFate, waiting: Int) {
    let what =
      switch fate {
      case .queued: waiting == 1 ? "is taken" : "is taken; \(waiting) wait"
      case .merged: "is taken in the place of one that waited"
      case .told: "wakes nobody; attached processes received it"
      case .known: "was taken before"
      }
    write("\(app): a push\(Self.about(contentID)) \(what)", .info, .pushTaken, fields(app, contentID))
  }

  func dropped(_ push: DroppedPush) {
    write(
      "\(push.app): a push\(Self.about(push.contentID)) is dropped: more than \(Engine.mostPushes) wait, and it is the "
        + "first to give way", .warning, .pushDropped, fields(push.app, push.contentID))
  }

  func forgot(_ id: PushID, _ problem: StoreError) {
    write("cannot tell of push \(id), so it is forgotten; have it sent again: \(problem)", .error, nil, [])
  }

  private static func about(_ contentID: String?) -> String { contentID.map { " with content \($0)" } ?? "" }

  private func fields(_ app: AppID, _ contentID: String?) -> [JournalEntry.Field] {
    [JournalEntry.Field("REFRESH_APP", app.description)]
      + (contentID.map { [JournalEntry.Field("REFRESH_CONTENT_ID", $0)] } ?? [])
  }
}
