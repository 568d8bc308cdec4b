import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// The interface of pushes, with the handler of each method.
  var pushInterface: Interface {
    var interface = Interface(PushInterface.self)
    interface.serve(PushInterface.Deliver.self, forPeople { self.deliver($0) })
    interface.serve(PushInterface.Report.self, forPeople { self.reportSources($0) })
    interface.serve(PushInterface.Watch.self, as: .watch, forPeople { self.watchBridge($0) })
    return interface
  }

  /// Whether the caller may act as the bridge; answers the call if not.
  func mayPush<Parameters>(_ call: Call<Parameters>) -> Bool {
    if core.access.mayPush(call.peer) { return true }
    call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedyForPushes))
    return false
  }

  /// Tells the bridge whether it may connect, now and after each change, until the connection ends.
  func watchBridge(_ call: Call<PushInterface.Watch.Parameters>) {
    guard mayPush(call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    pushes.use()
    pushes.bridge.watch(call)
  }

  /// Keeps the bridge's sources, for `Status`, until the connection ends.
  func reportSources(_ call: Call<PushInterface.Report.Parameters>) {
    guard mayPush(call) else { return }
    guard call.parameters.sources.count <= Wire.Source.most else {
      return call.fail(InvalidParameter(parameter: "sources"))
    }
    pushes.use()
    pushes.bridge.report(call.parameters.sources.map(\.bounded), by: call.connection)
    call.reply(PushInterface.Report.Reply())
  }

  /// How many pushes one call may have, because other callers wait meanwhile.
  private static let deliveryLimit = 256

  /// Accepts the bridge's pushes, and answers when all of them are on the disk.
  func deliver(_ call: Call<PushInterface.Deliver.Parameters>) {
    guard mayPush(call) else { return }
    let deliveries = call.parameters.deliveries
    guard (1...Self.deliveryLimit).contains(deliveries.count) else {
      return call.fail(InvalidParameter(parameter: "deliveries"))
    }
    var checked: [CheckedPush] = []
    let refusals = deliveries.map { delivery -> String? in
      do throws(CheckedPush.Refusal) {
        checked.append(try CheckedPush(delivery, in: core.configuration))
        return nil
      } catch {
        return error.text
      }
    }
    pushes.accept(checked) { outcome in
      switch outcome {
      case .failure(let reason): call.fail(RefreshdInterface.NotStored(problem: reason.problem))
      case .success(let accepted):
        var rest = accepted[...]
        let results = refusals.map { refusal in
          self.result(refusal: refusal, refusal == nil ? rest.popFirst() : nil)
        }
        call.reply(PushInterface.Deliver.Reply(results: results))
      }
    }
  }

  private func result(refusal: String?, _ accepted: AcceptedPush?) -> Wire.DeliveryResult {
    if let fate = accepted?.fate { return Wire.DeliveryResult(fate: fate) }
    pushes.noteRefused()
    return Wire.DeliveryResult(refusal: refusal ?? CheckedPush.noApp)
  }

  /// Accepts a push for an app, and answers when the push is on the disk.
  func push(_ call: Call<AppInterface.Push.Parameters>) {
    let asked = call.parameters
    guard let app = refreshedApp(named: asked.app, for: call) else { return }
    guard asked.id.map(CheckedPush.isMessage) ?? true else { return call.fail(InvalidParameter(parameter: "id")) }
    let payload: PushPayload
    do throws(AppInterface.InvalidPayload) { payload = try PushPayload(asked.payload) } catch {
      pushes.noteRefused()
      return call.fail(error)
    }
    pushes.accept([CheckedPush(app: app.id, payload: payload, urgency: asked.urgency, message: asked.id)]) { outcome in
      switch outcome {
      case .failure(let reason): call.fail(RefreshdInterface.NotStored(problem: reason.problem))
      case .success(let accepted):
        guard let push = accepted.first, let fate = push.fate else {
          return call.fail(RefreshdInterface.NoSuchApp(app: asked.app))
        }
        call.reply(
          AppInterface.Push.Reply(
            fate: fate, waiting: push.waiting,
            earliestMicroseconds: push.earliest.map(self.core.wall)))
      }
    }
  }
}
