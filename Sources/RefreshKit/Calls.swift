import RefreshAPI
import Varlink

/// A call that one answer is awaited to.
struct PendingCall {
  let client: Client
  let until: ContinuousClock.Instant
  /// Takes the answer if it has come; false if not.
  let take: (Client) throws(ClientError) -> Bool
  let fail: (RefreshError) -> Void
}

/// Calls with one answer, each on a connection of its own: those that last are busy with theirs.
extension RefreshClient {
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters
  ) async throws(RefreshError) -> Method.Reply {
    let client: Client
    do throws(ClientError) {
      client = try Client(path: socket.path)
      try client.begin(Method.name, parameters, more: false)
    } catch {
      throw RefreshError(error, at: socket)
    }
    let result: Result<Method.Reply, RefreshError> = await withCheckedContinuation { caller in
      calls[client.descriptor] = PendingCall(client: client, until: .now + BackOff.patience) {
        client throws(ClientError) in
        guard let answer = try client.nextAnswer(as: Method.Reply.self) else { return false }
        caller.resume(returning: .success(answer.parameters))
        return true
      } fail: {
        caller.resume(returning: .failure($0))
      }
      let descriptor = client.descriptor
      loop.watch(descriptor) { [weak self] in self?.assumeIsolated { $0.readAnswer(descriptor) } }
      arm()
    }
    return try result.get()
  }

  /// Calls a method whose answer nobody needs.
  func tell<Method: InterfaceMethod>(_ method: Method.Type, _ parameters: Method.Parameters) throws(ClientError) {
    try Client(path: socket.path).send(Method.name, parameters)
  }

  func endLateCalls() {
    for (descriptor, call) in calls where call.until <= .now { end(descriptor, .late) }
  }

  private func readAnswer(_ descriptor: Int32) {
    guard let call = calls[descriptor] else { return }
    do throws(ClientError) {
      if try call.take(call.client) { end(descriptor, nil) }
    } catch {
      end(descriptor, RefreshError(error, at: socket))
    }
  }

  private func end(_ descriptor: Int32, _ error: RefreshError?) {
    guard let call = calls.removeValue(forKey: descriptor) else { return }
    loop.forget(descriptor)
    if let error { call.fail(error) }
    arm()
  }
}
