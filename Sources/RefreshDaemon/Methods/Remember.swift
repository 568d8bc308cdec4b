import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Keeps what a fetch must know the next time; answered when it is stored.
  ///
  /// Only of the URL that the task of the token fetches.
  func remember(_ call: Call<WorkerInterface.Remember.Parameters>) {
    let said = call.parameters
    guard let key = refreshes.task(of: said.token), let running = refreshes.running[key.refresh],
      running.performer == nil, let fetch = running.app.commands[key.task].fetch
    else { return call.fail(RefreshdInterface.NoSuchToken()) }
    guard said.url == fetch.file.url else { return call.fail(InvalidParameter(parameter: "url")) }
    for (name, text) in [("etag", said.etag), ("last_modified", said.lastModified), ("digest", said.digest)] {
      if let text, text.utf8.count > ReportBounds.longestValidator || text.utf8.contains(where: { $0 < 0x20 }) {
        return call.fail(InvalidParameter(parameter: name))
      }
    }
    remember(
      Validator(etag: said.etag, lastModified: said.lastModified, digest: said.digest), of: running.app.id, said.url)
    handleDurably([]) { problem in
      if let problem {
        call.fail(RefreshdInterface.NotStored(problem: problem.description))
      } else {
        call.reply(WorkerInterface.Remember.Reply())
      }
    }
  }
}
