/// A list that usually has one element, and then needs no memory of its own.
public enum Few<Element: Hashable & Sendable>: Hashable, Sendable {
  /// A list of one element.
  case one(Element)
  /// A list of no element, or of several.
  case many([Element])

  /// Keeps a list.
  @inlinable public init(_ list: [Element]) { self = list.count == 1 ? .one(list[0]) : .many(list) }

  /// The list.
  @inlinable public var list: [Element] {
    switch self {
    case .one(let element): [element]
    case .many(let list): list
    }
  }
}
