import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Keeps what the token's task must know the next time it fetches or replicates, and answers when they are stored.
  func remember(_ call: Call<WorkerInterface.Remember.Parameters>) {
    let asked = call.parameters
    guard let (key, running) = runner.refreshes.task(of: asked.token, calledBy: call.peer),
      let name = running.app.commands[key.task].rememberedName
    else { return call.fail(RefreshdInterface.NoSuchToken()) }
    guard asked.url == name else { return call.fail(InvalidParameter(parameter: "url")) }
    for (name, text) in [("etag", asked.etag), ("last_modified", asked.lastModified), ("digest", asked.digest)] {
      if let text, text.utf8.count > ReportBounds.longestValidator || text.utf8.contains(where: { $0 < 0x20 }) {
        return call.fail(InvalidParameter(parameter: name))
      }
    }
    if let final = asked.finalURL,
      final.utf8.count > ReportBounds.longestURL || final.utf8.contains(where: { $0 < 0x20 })
    {
      return call.fail(InvalidParameter(parameter: "final_url"))
    }
    remember(
      Validator(finalURL: asked.finalURL, etag: asked.etag, lastModified: asked.lastModified, digest: asked.digest),
      of: running.app.id, asked.url
    ) { problem in call.conclude(problem) { WorkerInterface.Remember.Reply() } }
  }

  /// Keeps a validator, and calls back when it is stored; restores the earlier validator if that fails.
  func remember(
    _ validator: Validator, of app: AppID, _ url: String, then promise: @escaping (StoreError?) -> Void
  ) {
    let before = runner.fetches.validator(of: app, url)
    runner.fetches.remember(validator, of: app, url)
    saving.promise { problem, _ in
      if problem != nil, self.runner.fetches.validator(of: app, url) == validator {
        self.runner.fetches.remember(before, of: app, url)
      }
      promise(problem)
    }
  }
}
