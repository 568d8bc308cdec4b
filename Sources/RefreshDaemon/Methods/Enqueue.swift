import RefreshAPI
import RefreshConfig
import Varlink

extension Daemon {
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
}
