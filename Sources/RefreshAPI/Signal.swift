extension AppInterface {
  /// Tells the phase of an app.
  ///
  /// The answer comes when the signal is stored.
  ///
  /// With `lease` the signal holds as long as the connection: call with `more`, and the first answer tells the phase,
  /// later ones carry notices. When the connection ends, however it ends, the signal is undone. Only `launched` and
  /// `foreground` can be leased. A lease without `more` is answered with org.varlink.service.ExpectedMore.
  public enum Signal: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.App.Signal"

    /// What `Signal` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app in reverse-DNS form, such as `org.example.todo`.
      public let app: String
      /// The signal.
      public let signal: Wire.LifecycleSignal
      /// Whether the signal ends with the connection; false if absent.
      public let lease: Bool?

      /// Makes it of its parts.
      public init(app: String, signal: Wire.LifecycleSignal, lease: Bool? = nil) {
        self.app = app
        self.signal = signal
        self.lease = lease
      }
    }

    /// What `Signal` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The phase that the app is in after the signal, or is in still when the notice is sent.
      public let phase: Wire.Phase
      /// Only in later answers to a lease.
      public let notice: Wire.Notice?

      /// Makes it of its parts.
      public init(phase: Wire.Phase, notice: Wire.Notice? = nil) {
        self.phase = phase
        self.notice = notice
      }
    }
  }
}
