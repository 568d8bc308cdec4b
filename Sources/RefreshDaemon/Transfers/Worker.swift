import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

extension WorkerPool {
  /// A worker; it may end at every stage, and a silent worker goes on to `ending` by itself.
  ///
  /// ```
  /// starting -> working -> finishing -> ending -> (ended)
  /// ```
  final class Worker {
    enum Stage {
      case starting
      /// It has asked for work, and accepts orders.
      case working
      /// It was told that nothing is left for it, or its connection is gone.
      case finishing
      /// It got SIGTERM, and gets SIGKILL if it does not end.
      case ending
    }

    let key: ProcessKey
    let app: AppID
    /// The folder that it may write to; nil if it only reads.
    let folder: String?
    let user: UInt32
    /// The id of the Flatpak to whose files it is bound; nil if it works for a plain app.
    let flatpak: String?
    /// The files to which it binds itself; nil outside a user's daemon, and for a Flatpak.
    let bounds: Wire.WorkerBounds?
    /// Whether a path of its bounds leads elsewhere by now, so that it gets no more work.
    var isOutdated = false
    /// The app's sandbox at the worker's start.
    private let sandbox: AppSandbox
    let token = Token.make()
    let timer: any WakeTimer
    var stage = Stage.starting
    var ending = TerminationSequence(grace: TerminationSequence.shortGrace, killsAgain: true)
    var call: WorkCall?
    /// The orders that are not sent yet.
    var orders: [Wire.Order] = []
    /// The transfers that the worker moves or must stop.
    var given: Set<TransferID> = []
    /// The transfers that it was told to stop.
    var stopping: Set<TransferID> = []
    /// Its limit in bytes a second, as last told; nil without a limit.
    var rate: Int64?

    init(
      key: ProcessKey, app: AppConfiguration, folder: String?, flatpak: String?, bounds: Wire.WorkerBounds?,
      timer: any WakeTimer
    ) {
      (self.key, self.app, self.folder, self.flatpak, self.timer) = (key, app.id, folder, flatpak, timer)
      (self.bounds, user, sandbox) = (bounds, app.owner.uid, app.sandbox)
    }

    /// Whether it is this app's worker, runs as the app's file now says, and may open these files.
    func serves(_ app: AppConfiguration, _ flatpak: String?, _ needed: Wire.WorkerBounds?) -> Bool {
      self.app == app.id && user == app.owner.uid && sandbox == app.sandbox && self.flatpak == flatpak && !isOutdated
        && needed.map { bounds?.holds($0) ?? ($0.writes == nil || $0.writes == folder) } != false
    }

    /// Whether it accepts more work.
    var isOpen: Bool { stage == .starting || stage == .working }

    func claimOrders() -> [Wire.Order] {
      defer { orders = [] }
      return orders
    }

    /// Forgets a transfer that the worker has ended.
    func remove(_ id: TransferID) {
      given.remove(id)
      stopping.remove(id)
    }
  }
}
