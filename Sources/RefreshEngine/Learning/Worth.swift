extension Horizon {
  /// The worth of a refresh at a moment, in minutes of age: the cost of waiting, less the future of fresh data.
  ///
  /// ``WaitSearch`` chooses the moment, by worth and price.
  ///
  /// - Parameter waiting: the cost of waiting for the best moment.
  func worth(of waiting: Double, at minute: Double) -> Double { max(waiting - future(at: minute), 0) }
}
