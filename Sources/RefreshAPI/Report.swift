extension WorkerInterface {
  /// Tells how transfers go.
  ///
  /// The answer comes when what it says is saved. Each `transfer`, `stop` and `discard` is answered by one report
  /// `ended` of its transfer; if a transfer ends while it is asked to stop, one report answers both.
  public enum Report: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Worker.Report"

    /// What `Report` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// What the worker found in its environment as REFRESH_TOKEN.
      public let token: String
      /// In the order in which it happened.
      public let reports: [Wire.TransferReport]

      /// Makes it of its parts.
      public init(token: String, reports: [Wire.TransferReport]) {
        self.token = token
        self.reports = reports
      }
    }

    /// What `Report` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
