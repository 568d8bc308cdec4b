import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// The interface of transfers, with the handler of each method.
  var transfersInterface: Interface {
    var interface = Interface(TransfersInterface.self)
    interface.serve(TransfersInterface.Enqueue.self) { self.enqueue($0) }
    interface.serve(TransfersInterface.List.self, as: .work) { self.listTransfers($0) }
    interface.serve(TransfersInterface.Watch.self, as: .watch) { self.watchTransfers($0) }
    interface.serve(TransfersInterface.Pause.self) { self.pauseTransfers($0) }
    interface.serve(TransfersInterface.Resume.self) { self.resumeTransfers($0) }
    interface.serve(TransfersInterface.Cancel.self) { self.cancelTransfers($0) }
    interface.serve(TransfersInterface.SetPriority.self) { self.setPriority($0) }
    interface.serve(TransfersInterface.Rejoin.self, as: .watch) { self.rejoin($0) }
    return interface
  }

  /// How many transfers one call may name, because other callers wait meanwhile.
  static let callLimit = 1_000

  /// Adds transfers of an app to the queue, and answers when they are on the disk.
  func enqueue(_ call: Call<TransfersInterface.Enqueue.Parameters>) {
    guard let app = refreshedApp(named: call.parameters.app, for: call) else { return }
    // Files are read and written as the owner, so only the owner may choose them.
    guard [0, app.owner.uid].contains(call.peer.uid) else {
      return call.fail(
        RefreshdInterface.NotAllowed(
          app: call.parameters.app, remedy: "Ask as \(app.owner.name), whose files are read and written, or as root."))
    }
    guard (1...Self.callLimit).contains(call.parameters.transfers.count) else {
      return call.fail(InvalidParameter(parameter: "transfers"))
    }
    var flatpak: FlatpakFiles?
    if let sandbox = call.peer.confinement.sandbox {
      // The sandbox does not reach this machine's servers either, so `network` of the request does not matter.
      guard sandbox.hasNetwork else {
        return call.fail(
          RefreshdInterface.NotAllowed(
            app: call.parameters.app,
            remedy: "Ask the user's own daemon, as a Flatpak that shares the network or from outside."))
      }
      let files = transfers.workers.environment.files(of: sandbox.subject, of: app.owner)
      guard sandbox.folder ?? files.folder == files.folder else {
        return call.fail(
          RefreshdInterface.NotAllowed(
            app: call.parameters.app, remedy: "Start \(sandbox.subject) with \(files.folder) as its folder."))
      }
      flatpak = files
    }
    var asked: [CheckedTransfer] = []
    for (index, request) in call.parameters.transfers.enumerated() {
      var request = request
      do throws(FlatpakFiles.Denied) { request = try flatpak?.translated(request) ?? request } catch {
        return call.fail(RefreshdInterface.NotAllowed(app: call.parameters.app, remedy: error.remedy))
      }
      do throws(CheckedTransfer.Refusal) { asked.append(try CheckedTransfer(request)) } catch {
        return call.fail(
          TransfersInterface.InvalidRequest(
            index: Int64(index), field: error.field, reason: error.reason, remedy: error.remedy))
      }
    }
    if let full = transfers.exceeded(by: asked, of: app, isFlatpak: flatpak != nil) { return call.fail(full) }
    transfers.enqueue(asked, of: app.id, flatpak: flatpak?.id) { problem, ids in
      call.conclude(problem) { TransfersInterface.Enqueue.Reply(ids: ids.map { Int64($0.number) }) }
    }
  }

  /// Lists the transfers that the caller may ask about, in order of their numbers.
  func listTransfers(_ call: Call<TransfersInterface.List.Parameters>) {
    let named = call.parameters.app
    if let named, !mayAsk(about: named, for: call) { return }
    guard hasShortSession(call.parameters.session, call) else { return }
    var ids = transfers.ids(of: named.flatMap(AppID.init), for: call.peer)[...]
    var found: [Wire.Transfer] = []
    let step = {
      let now = self.core.readClocks()
      for id in ids.prefix(Self.transfersInTurn) {
        guard let shown = self.transfers.view(of: id, at: now),
          call.parameters.session == nil || call.parameters.session == shown.session
        else { continue }
        found.append(shown)
      }
      ids = ids.dropFirst(Self.transfersInTurn)
      if ids.isEmpty { call.reply(TransfersInterface.List.Reply(transfers: found)) }
      return !ids.isEmpty
    }
    if step() { call.inTurns(step) }
  }

  /// How many transfers are looked at in one turn of the loop, because other callers wait meanwhile.
  static let transfersInTurn = 200

  /// Reports changes of transfers until the connection ends.
  func watchTransfers(_ call: Call<TransfersInterface.Watch.Parameters>) {
    if let name = call.parameters.app, !mayAsk(about: name, for: call) { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    transfers.watchers.add(.watch(call, call.parameters.app.flatMap(AppID.init)), until: call)
  }

  /// Reports changes of a session of transfers to its one handler, a process of the app.
  func rejoin(_ call: Call<TransfersInterface.Rejoin.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    guard hasShortSession(call.parameters.session, call) else { return }
    let session = TransferSession(app: app.id, name: call.parameters.session)
    guard !transfers.watchers.isTaken(session) else {
      return call.fail(TransfersInterface.SessionTaken(app: call.parameters.app, session: session.name))
    }
    transfers.watchers.add(.rejoin(call, session), until: call)
  }

  /// Pauses transfers until they are resumed.
  func pauseTransfers(_ call: Call<TransfersInterface.Pause.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    let running = ids.filter { !isPaused($0) }
    change(running.map { .transferPaused($0, true) }, for: call) { NoParameters() }
  }

  private func isPaused(_ id: TransferID) -> Bool {
    switch core.engine.transferState(of: id)?.stage {
    case .paused, .stopping(.paused): true
    default: false
    }
  }

  /// The transfers of a call, if none has ended and the caller may ask about each; answers the call otherwise.
  func transfers<Parameters>(_ numbers: [Int64], of call: Call<Parameters>) -> [TransferID]? {
    guard (1...Self.callLimit).contains(numbers.count) else {
      call.fail(InvalidParameter(parameter: "ids"))
      return nil
    }
    var ids: [TransferID] = []
    for number in numbers.withoutDuplicates {
      guard let id = UInt64(exactly: number).map(TransferID.init), let state = core.engine.transferState(of: id) else {
        call.fail(TransfersInterface.NoSuchTransfer(id: number))
        return nil
      }
      let app = state.policy.app
      guard core.may(call.peer, about: app) else {
        call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy(for: call.peer)))
        return nil
      }
      if case .ended(let result, _) = state.stage {
        call.fail(TransfersInterface.AlreadyEnded(id: number, result: Wire.TransferResult(result)))
        return nil
      }
      ids.append(id)
    }
    return ids
  }

  /// Resumes transfers, also transfers that wait for a retry or for disk space.
  func resumeTransfers(_ call: Call<TransfersInterface.Resume.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    change(ids.flatMap { [.transferPaused($0, false), .roomFound($0)] }, for: call) { NoParameters() }
  }

  /// Cancels transfers and removes their partial files.
  func cancelTransfers(_ call: Call<TransfersInterface.Cancel.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    change(ids.map(Event.transferCancelled), for: call) { NoParameters() }
  }

  /// Sets the priority of transfers.
  func setPriority(_ call: Call<TransfersInterface.SetPriority.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    guard (-100...100).contains(call.parameters.priority) else {
      return call.fail(InvalidParameter(parameter: "priority"))
    }
    guard call.parameters.priority <= 0 || call.peer.confinement.sandbox == nil else {
      return call.fail(
        RefreshdInterface.NotAllowed(remedy: "A sandboxed app may give a priority of 0 at most; a person may raise it.")
      )
    }
    change(ids.map { .transferPrioritized($0, Int32(call.parameters.priority)) }, for: call) { NoParameters() }
  }
}

// The names in calls about transfers.

extension Daemon {
  /// Whether the caller may ask about the transfers of an app, also of a former app; answers the call if not.
  func mayAsk<Parameters>(about name: String, for call: Call<Parameters>) -> Bool {
    guard let app = AppID(name), core.may(call.peer, about: app) else {
      if core.access.mayAll(call.peer) {
        call.fail(RefreshdInterface.NoSuchApp(app: name))
      } else {
        call.fail(core.access.refusal(of: call.peer, app: name))
      }
      return false
    }
    guard core.configuration[app] != nil || core.engine.state(of: app) != nil else {
      call.fail(RefreshdInterface.NoSuchApp(app: name))
      return false
    }
    return true
  }

  /// Whether a transfer can have this session name; answers the call if not.
  func hasShortSession<Parameters>(_ name: String?, _ call: Call<Parameters>) -> Bool {
    guard let name, name.utf8.count > CheckedTransfer.longestText else { return true }
    call.fail(InvalidParameter(parameter: "session"))
    return false
  }
}
