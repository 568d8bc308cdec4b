import RefreshAPI
import RefreshStore
import Varlink

extension Daemon {
  /// How many pushes one call may have: the others wait meanwhile.
  private static let deliveryLimit = 256

  /// Takes what the bridge has, and answers when all of it is on disk (FEATURES E4).
  func deliver(_ call: Call<PushInterface.Deliver.Parameters>) {
    guard mayPush(call) else { return }
    let deliveries = call.parameters.deliveries
    guard (1...Self.deliveryLimit).contains(deliveries.count) else {
      return call.fail(InvalidParameter(parameter: "deliveries"))
    }
    var orders: [PushOrder] = []
    let refusals = deliveries.map { delivery -> String? in
      do throws(PushOrder.Refusal) {
        orders.append(try PushOrder(delivery, in: configuration))
        return nil
      } catch {
        return error.text
      }
    }
    take(orders) { outcome in
      switch outcome {
      case .failure(let reason): call.fail(RefreshdInterface.NotStored(problem: reason.problem))
      case .success(let taken):
        var rest = taken[...]
        let results = refusals.map { refusal in
          self.result(refusal: refusal, refusal == nil ? rest.popFirst() : nil)
        }
        call.reply(PushInterface.Deliver.Reply(results: results))
      }
    }
  }

  private func result(refusal: String?, _ taken: TakenPush?) -> Wire.DeliveryResult {
    if let fate = taken?.fate { return Wire.DeliveryResult(fate: fate) }
    tally.note(Tally.PushFate.refused)
    return Wire.DeliveryResult(refusal: refusal ?? PushOrder.noApp)
  }

  /// Whether the caller may speak for the bridge; else the call is answered.
  func mayPush<Parameters>(_ call: Call<Parameters>) -> Bool {
    if access.mayPush(call.peer) { return true }
    call.fail(RefreshdInterface.NotAllowed(remedy: access.remedyForPushes))
    return false
  }
}
