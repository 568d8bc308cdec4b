extension Wire.Refresh {
  /// The messages of its tasks, each after the task's name if there are several; omits the message that is the cause.
  public var messages: [String] {
    let says = tasks.filter { !$0.message.isEmpty && $0.message != $0.cause?.text }
    return says.map { tasks.count == 1 ? $0.message : "\($0.name): \($0.message)" }
  }
}
