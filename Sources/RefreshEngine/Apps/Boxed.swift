/// A value behind a pointer: for optional parts of an app that most apps do not have.
indirect enum Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
  case holding(Value)

  var value: Value {
    switch self {
    case .holding(let value): value
    }
  }
}
