import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Gives a worker its orders until nothing is left for it.
  func work(_ call: Call<WorkerInterface.Work.Parameters>) {
    guard let worker = workers.worker(of: call.parameters.token), worker.stage == .starting else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    workers[worker.key]?.call = call
    workers[worker.key]?.stage = .working
    call.onDisconnect { self.loseWork(of: worker.key) }
    armWorker(worker.key)
    giveOrders()
  }
}
