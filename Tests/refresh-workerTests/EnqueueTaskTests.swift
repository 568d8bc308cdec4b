import RefreshAPI
import Testing

@testable import refresh_worker

/// The task asks for a retry only after errors of the daemon that may pass.
struct EnqueueTaskTests {
  @Test func onlyWhatMayPassIsAskedForAgain() {
    for name in [RefreshdInterface.NotStored.name, TransfersInterface.QueueFull.name] {
      #expect(EnqueueTask.mayPass(name))
    }
    for name in [
      RefreshdInterface.NotAllowed.name, RefreshdInterface.NoSuchApp.name, TransfersInterface.InvalidRequest.name,
      "org.varlink.service.MethodNotFound",
    ] {
      #expect(!EnqueueTask.mayPass(name))
    }
  }
}
