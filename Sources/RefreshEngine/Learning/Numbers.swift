/// A fixed count of numbers, stored in the value itself: an array would be a separate piece of memory for each app.
struct Numbers<let count: Int, Number: Numeric & Hashable & Sendable>: Sendable {
  private var numbers = InlineArray<count, Number>(repeating: .zero)

  /// Makes zeros.
  init() {}

  /// Takes the numbers of an array: missing numbers are zero, further numbers are left out.
  init(_ array: [Number]) {
    for (index, number) in array.prefix(count).enumerated() { numbers[index] = number }
  }
}

extension Numbers: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(index: Int) -> Number {
    get { numbers[index] }
    set { numbers[index] = newValue }
  }
}

extension Numbers: Hashable {
  static func == (left: Numbers, right: Numbers) -> Bool { left.elementsEqual(right) }

  func hash(into hasher: inout Hasher) { for number in self { hasher.combine(number) } }
}
