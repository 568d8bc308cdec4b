import Varlink

/// A call that waits for its only reply.
struct PendingCall {
  let client: Client
  let until: ContinuousClock.Instant
  /// Reads the reply if it is there; returns false if not.
  let receive: (Client) throws(ClientError) -> Bool
  let fail: (CallFailure) -> Void
}

/// Why a call has no reply.
enum CallFailure: Error {
  case failed(ClientError)
  /// The reply did not come in time.
  case late
}

/// Calls with one reply; each opens a connection, because a connection with a stream takes no further call.
extension RefreshClient {
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, within patience: Duration = ReconnectBackOff.patience
  ) async throws(CallFailure) -> Method.Reply {
    let client: Client
    do throws(ClientError) {
      client = try Client(path: socket.path)
      try client.begin(Method.self, parameters, more: false)
    } catch {
      throw .failed(error)
    }
    let result: Result<Method.Reply, CallFailure> = await withCheckedContinuation { caller in
      calls[client.descriptor] = PendingCall(client: client, until: .now + patience) {
        client throws(ClientError) in
        guard let answer = try client.nextAnswer(of: Method.self) else { return false }
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

  func endLateCalls() {
    for (descriptor, call) in calls where call.until <= .now { end(descriptor, .late) }
  }

  private func readAnswer(_ descriptor: Int32) {
    guard let call = calls[descriptor] else { return }
    do throws(ClientError) {
      if try call.receive(call.client) { end(descriptor, nil) }
    } catch {
      end(descriptor, .failed(error))
    }
  }

  private func end(_ descriptor: Int32, _ failure: CallFailure?) {
    guard let call = calls.removeValue(forKey: descriptor) else { return }
    loop.forget(descriptor)
    if let failure { call.fail(failure) }
    arm()
  }
}
