import RefreshAPI
import Testing

@testable import refresh_worker

/// When a task asks again that could not have a file downloaded.
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
