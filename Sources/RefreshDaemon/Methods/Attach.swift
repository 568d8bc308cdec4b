import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Lets a process of an app perform its refreshes until the connection ends (FEATURES B6).
  func attach(_ call: Call<AppInterface.Attach.Parameters>) {
    guard let app = AppID(call.parameters.app).flatMap({ configuration[$0] }) else {
      return call.fail(RefreshdInterface.NoSuchApp(app: call.parameters.app))
    }
    guard access.may(call.peer, about: app) else {
      return call.fail(RefreshdInterface.NotAllowed(app: call.parameters.app, remedy: access.remedy(for: app)))
    }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    let attachment = Attachments.Attachment(lease: leases.makeID(), call: call)
    attachments.add(attachment, of: app.id)
    call.onDisconnect { self.detach(attachment, from: app.id) }
    journal.attached(call.peer.pid, to: app.id)
    changePhase(of: app.id) { handle(.leased(attachment.lease, app.id, .launched)) }
    attachment.tell(Wire.AttachEvent(kind: "attached", phase: engine.phase(of: app.id).map(Wire.Phase.init)))
    settleAttachments(of: app.id)
  }

  /// The connection is gone: what it was performing has failed, and the next in order takes its place.
  private func detach(_ attachment: Attachments.Attachment, from app: AppID) {
    attachments.remove(attachment.lease, of: app)
    journal.detached(attachment.call.peer.pid, from: app)
    changePhase(of: app) { handle(.leaseEnded(attachment.lease, app)) }
    settleAttachments(of: app)
    for refresh in refreshes.performed(by: attachment.lease) { lose(refresh) }
  }
}
