extension Wire {
  /// What a `RunEvent` tells.
  public enum RunEventKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// A refresh of the app is running; another is run once it has ended.
    case queued
    /// Something holds the refresh: it starts as soon as nothing does.
    case held
    /// The refresh has started.
    case started
    /// A task printed a line.
    case output
    /// The refresh has ended: the last event.
    case finished
  }

  /// One step of a refresh that was asked for with `Run`.
  ///
  /// An object with `kind` and the fields of that kind on the wire.
  public enum RunEvent: Hashable, Sendable {
    /// A refresh of the app is running; another is run once it has ended.
    case queued
    /// These hold the refresh, at least one: it starts as soon as nothing does.
    case held([Hold])
    /// The refresh of this id has started.
    case started(id: String)
    /// A task printed this line on standard output or standard error; without its end.
    case output(task: String, text: String)
    /// The refresh has ended: the last event.
    case finished(Refresh)
  }
}

extension Wire.RunEvent: Codable {
  private enum CodingKeys: String, CodingKey {
    case kind, holds, id, task, text, refresh
  }

  /// Reads the fields of the kind, and no others.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self =
      switch try fields.decode(Wire.RunEventKind.self, forKey: .kind) {
      case .queued: .queued
      case .held: .held(try fields.decode([Wire.Hold].self, forKey: .holds))
      case .started: .started(id: try fields.decode(String.self, forKey: .id))
      case .output:
        .output(
          task: try fields.decode(String.self, forKey: .task), text: try fields.decode(String.self, forKey: .text))
      case .finished: .finished(try fields.decode(Wire.Refresh.self, forKey: .refresh))
      }
  }

  /// Writes the kind and its fields.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .queued: try fields.encode(Wire.RunEventKind.queued, forKey: .kind)
    case .held(let holds):
      try fields.encode(Wire.RunEventKind.held, forKey: .kind)
      try fields.encode(holds, forKey: .holds)
    case .started(let id):
      try fields.encode(Wire.RunEventKind.started, forKey: .kind)
      try fields.encode(id, forKey: .id)
    case .output(let task, let text):
      try fields.encode(Wire.RunEventKind.output, forKey: .kind)
      try fields.encode(task, forKey: .task)
      try fields.encode(text, forKey: .text)
    case .finished(let refresh):
      try fields.encode(Wire.RunEventKind.finished, forKey: .kind)
      try fields.encode(refresh, forKey: .refresh)
    }
  }
}
