import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

// What an app is told of its transfers (FEATURES F8).

/// What an app is told of one transfer of a session that has ended: a line on standard input.
private struct TransferLine: JSONWritable {
  let url: String
  let path: String
  let outcome: String
  let bytes: Int64
  let sha256: String?
  let description: String?
  let message: String?

  /// A nil is `null`, so that each line has the same keys.
  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("bytes", bytes)
    json.member("description", .some(description))
    json.member("message", .some(message))
    json.member("outcome", outcome)
    json.member("path", path)
    json.member("sha256", .some(sha256))
    json.member("url", url)
    json.endObject()
  }
}

/// What a desktop is told, on the standard input of `refresh-worker notify`.
private struct DesktopNotice: JSONWritable {
  let title: String
  let body: String

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("body", body)
    json.member("title", title)
    json.endObject()
  }
}

extension Daemon {
  /// What a refresh that tells of a session tells: a line of JSON for each of its transfers; nil for another refresh.
  func linesOfSession(toldBy refresh: RefreshID, to app: AppID) -> String? {
    guard let started = engine.started(of: refresh), started.session != nil else { return nil }
    return engine.transfers(toldBy: started, to: app).compactMap { id -> String? in
      guard let known = transfers[id], case .ended(let result, _) = engine.transferState(of: id)?.stage else {
        return nil
      }
      let line = TransferLine(
        url: known.shownURL, path: known.request.path, outcome: result.rawValue, bytes: known.bytes,
        sha256: known.progress.sha256, description: known.request.description, message: known.progress.message)
      do { return try line.jsonText(.line) + "\n" } catch { return nil }
    }.joined()
  }

  /// The session that a refresh tells of.
  func session(toldBy refresh: RefreshID) -> String? { engine.started(of: refresh)?.session }

  /// Tells the processes of an app that are attached to it that a transfer has ended.
  func tellAttached(of known: Transfers.Known, _ result: TransferResult, _ session: TransferSession) {
    let event = Wire.AttachEvent(
      kind: "transfer_ended", session: session.name, url: known.shownURL, path: known.request.path,
      result: Wire.TransferResult(result))
    for attachment in attached(to: session.app) { attachment.tell(event) }
  }

  /// Tells the owner's desktop that a session has ended, in the words that the app gave for it, if it gave any.
  func tellDesktop(of session: TransferSession) {
    guard let words = transfers.takeWords(of: session), let app = configuration[session.app], !engine.isStopping else {
      return
    }
    let key = TaskKey(refresh: engine.makeID(), task: 0)
    let command = Command(
      arguments: [workerProgram, "notify"], directory: "/", environment: app.commands.first?.environment ?? [])
    do {
      let notice = try DesktopNotice(title: app.name, body: words).jsonText(.line)
      let timer = try loop.timer { self.endTelling(key) }
      tellings.begin(key, app.id, timer, .sessionEnded)
      tellings.arm(key, for: Tellings.deadline)
      launcher.start(
        TaskLaunch(
          key: key, app: app.id, command: command, owner: app.owner,
          environment: environment.variables(ofNotice: command, app: app, id: key.refresh),
          description: "\(app.name): desktop notification", timeLimit: Tellings.deadline, grace: Tellings.grace,
          input: [UInt8](notice.utf8), changedPath: nil))
    } catch {
      journal.cannotTell(.sessionEnded, app.id, "\(error)")
    }
  }
}
