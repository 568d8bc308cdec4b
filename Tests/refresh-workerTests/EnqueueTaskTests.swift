import RefreshAPI
import Testing

@testable import refresh_worker

/// Which errors of the daemon make the task ask for a retry.
struct EnqueueTaskTests {
  @Test func onlyWhatMayPassIsAskedForAgain() {
    for name in [TransfersInterface.NotStored.name, TransfersInterface.QueueFull.name] {
      #expect(EnqueueTask.mayPass(name))
    }
    for name in [
      TransfersInterface.NotAllowed.name, TransfersInterface.NoSuchApp.name, TransfersInterface.InvalidRequest.name,
      "org.varlink.service.MethodNotFound",
    ] {
      #expect(!EnqueueTask.mayPass(name))
    }
  }
}
