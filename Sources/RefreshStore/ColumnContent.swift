import RefreshEngine

/// A type that one column can hold.
protocol ColumnContent {
  var columnValue: Value { get }
  init(_ row: Row, _ column: Int32) throws(StoreError)
}

extension Optional: ColumnContent where Wrapped: ColumnContent {
  var columnValue: Value { map(\.columnValue) ?? .null }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    self = row.isNull(column) ? nil : try Wrapped(row, column)
  }
}

extension Bool: ColumnContent {
  var columnValue: Value { .integer(self ? 1 : 0) }
  init(_ row: Row, _ column: Int32) { self = row.integer(column) != 0 }
}

extension FixedWidthInteger {
  var columnValue: Value { .integer(Int64(truncatingIfNeeded: self)) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    guard let number = Self(exactly: row.integer(column)) else { throw row.unreadable(column) }
    self = number
  }
}

extension Int: ColumnContent {}
extension Int64: ColumnContent {}
extension Int32: ColumnContent {}
extension UInt32: ColumnContent {}

extension Double: ColumnContent {
  var columnValue: Value { .real(self) }
  init(_ row: Row, _ column: Int32) { self = row.real(column) }
}

extension Duration: ColumnContent {
  var columnValue: Value { .integer(inMicroseconds) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self = .microseconds(try row.microseconds(column)) }
}

extension String: ColumnContent {
  var columnValue: Value { .text(self) }
  init(_ row: Row, _ column: Int32) { self = row.text(column) }
}

extension Instant: ColumnContent {
  var columnValue: Value { .integer(microseconds) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self = Instant(microseconds: try row.microseconds(column)) }
}

extension Array: ColumnContent where Element: ListedContent {
  var columnValue: Value { .text(Element.list(self)) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self = try Element.list(row, column) }
}

/// A type of which a column can hold a list.
protocol ListedContent {
  static func list(_ elements: [Self]) -> String
  static func list(_ row: Row, _ column: Int32) throws(StoreError) -> [Self]
}

extension Instant: ListedContent {
  /// The instants in their order, as microseconds joined by spaces.
  static func list(_ instants: [Instant]) -> String { instants.map { "\($0.microseconds)" }.joined(separator: " ") }

  static func list(_ row: Row, _ column: Int32) throws(StoreError) -> [Instant] {
    var instants: [Instant] = []
    for word in row.text(column).split(separator: " ") {
      guard let microseconds = Int64(word) else { throw row.unreadable(column) }
      instants.append(Instant(microseconds: try row.sane(microseconds, in: column)))
    }
    return instants
  }
}

extension Hold.Name: ListedContent {
  /// The names in their order, joined by commas.
  static func list(_ names: [Hold.Name]) -> String { names.map(\.code).joined(separator: ",") }

  static func list(_ row: Row, _ column: Int32) throws(StoreError) -> [Hold.Name] {
    var holds: [Hold.Name] = []
    for word in row.text(column).split(separator: ",") {
      guard let hold = Hold.Name(code: String(word)) else { throw row.unreadable(column) }
      holds.append(hold)
    }
    return holds
  }
}

extension Interval: ColumnContent {
  var columnValue: Value { .text(code) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    guard let interval = Interval(code: row.text(column)) else { throw row.unreadable(column) }
    self = interval
  }
}

extension RefreshID: ColumnContent {
  var columnValue: Value { .integer(key) }
  init(_ row: Row, _ column: Int32) { self.init(key: row.integer(column)) }
}

extension AppID: ColumnContent {
  var columnValue: Value { .text(description) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    guard let app = AppID(row.text(column)) else { throw row.unreadable(column) }
    self = app
  }
}

extension PushID: ColumnContent {
  var columnValue: Value { .integer(Int64(bitPattern: number)) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self.init(try row.positive(column)) }
}

extension TransferID: ColumnContent {
  var columnValue: Value { .integer(Int64(bitPattern: number)) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self.init(try row.positive(column)) }
}

extension DiskCode {
  var columnValue: Value { .text(code) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    guard let word = Self(code: row.text(column)) else { throw row.unreadable(column) }
    self = word
  }
}
