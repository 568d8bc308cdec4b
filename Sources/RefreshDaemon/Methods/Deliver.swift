import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
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
}
