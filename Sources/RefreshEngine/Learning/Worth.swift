extension Horizon {
  /// The worth of a refresh at a moment, in minutes of age: what waiting costs beyond being fresh at that moment.
  ///
  /// - Parameter waiting: what it costs to wait for the best moment.
  func worth(of waiting: Double, at minute: Double) -> Double { max(waiting - future(at: minute), 0) }
}
