extension Horizon {
  /// The worth of a refresh at a moment, in minutes of age: the cost of waiting, less the future of fresh data.
  ///
  /// `waiting` is the cost of waiting for the best moment. ``WaitSearch`` chooses the moment, by worth and price.
  func worth(of waiting: Double, at minute: Double) -> Double { max(waiting - future(at: minute), 0) }
}
