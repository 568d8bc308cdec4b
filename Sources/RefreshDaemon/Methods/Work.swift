import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Sends a worker its orders until nothing is left for it.
  func work(_ call: Call<WorkerInterface.Work.Parameters>) {
    if !transfers.workers.accept(call) { call.fail(WorkerInterface.NoSuchToken()) }
  }
}
