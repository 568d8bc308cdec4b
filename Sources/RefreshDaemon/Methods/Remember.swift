import RefreshAPI
import RefreshStore
import Varlink

extension Daemon {
  /// Keeps the validators of the URL that the token's task fetches, and answers when they are stored.
  func remember(_ call: Call<WorkerInterface.Remember.Parameters>) {
    let asked = call.parameters
    guard let key = runner.task(of: asked.token), let running = runner[key.refresh], running.performer == nil,
      // The worker runs as the owner; another user may not speak with a token that it has found.
      running.app.owner.uid == call.peer.uid,
      let fetch = running.app.commands[key.task].fetch
    else { return call.fail(RefreshdInterface.NoSuchToken()) }
    guard asked.url == fetch.file.url else { return call.fail(InvalidParameter(parameter: "url")) }
    for (name, text) in [("etag", asked.etag), ("last_modified", asked.lastModified), ("digest", asked.digest)] {
      if let text, text.utf8.count > ReportBounds.longestValidator || text.utf8.contains(where: { $0 < 0x20 }) {
        return call.fail(InvalidParameter(parameter: name))
      }
    }
    fetches.remember(
      Validator(etag: asked.etag, lastModified: asked.lastModified, digest: asked.digest), of: running.app.id, asked.url
    )
    saving.promise { problem, _ in
      if let problem {
        call.fail(RefreshdInterface.NotStored(problem: problem.description))
      } else {
        call.reply(WorkerInterface.Remember.Reply())
      }
    }
  }
}
