import RefreshConfig

extension PushSource {
  /// The part that listens to it.
  @MainActor
  func source(for bridge: Bridge) -> any Source {
    switch self {
    case .ntfy(let settings): NtfySource(settings, for: bridge)
    case .sse(let settings): EventStreamSource(settings, for: bridge)
    case .mqtt(let settings): BrokerSource(settings, for: bridge)
    }
  }
}
