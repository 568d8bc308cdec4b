import RefreshEngine

/// A type that one column can hold.
protocol ColumnContent {
  var columnValue: ColumnValue { get }
  init(_ row: Row, _ column: Int32) throws(StoreError)
}

extension Optional: ColumnContent where Wrapped: ColumnContent {
  var columnValue: ColumnValue { map(\.columnValue) ?? .null }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    self = row.isNull(column) ? nil : try Wrapped(row, column)
  }
}

extension Bool: ColumnContent {
  var columnValue: ColumnValue { .integer(self ? 1 : 0) }
  init(_ row: Row, _ column: Int32) { self = row.integer(column) != 0 }
}

extension FixedWidthInteger {
  var columnValue: ColumnValue { .integer(Int64(truncatingIfNeeded: self)) }
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
  var columnValue: ColumnValue { .real(self) }
  init(_ row: Row, _ column: Int32) { self = row.real(column) }
}

extension Duration: ColumnContent {
  var columnValue: ColumnValue { .integer(inMicroseconds) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self = .microseconds(try row.microseconds(column)) }
}

extension String: ColumnContent {
  var columnValue: ColumnValue { .text(self) }
  init(_ row: Row, _ column: Int32) { self = row.text(column) }
}

extension Instant: ColumnContent {
  var columnValue: ColumnValue { .integer(microseconds) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self = Instant(microseconds: try row.microseconds(column)) }
}

/// A type whose values a column can hold as a list, in their order.
protocol ListedContent {
  static var separator: Character { get }
  var listed: String { get }
  init?(listed: Substring)
}

extension Array: ColumnContent where Element: ListedContent {
  var columnValue: ColumnValue { .text(map(\.listed).joined(separator: String(Element.separator))) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    self = []
    for word in row.text(column).split(separator: Element.separator) {
      guard let element = Element(listed: word) else { throw row.unreadable(column) }
      append(element)
    }
  }
}

extension Instant: ListedContent {
  static let separator: Character = " "
  var listed: String { "\(microseconds)" }
  init?(listed: Substring) {
    guard let microseconds = Int64(listed), Row.sane.contains(microseconds) else { return nil }
    self.init(microseconds: microseconds)
  }
}

extension Hold.Name: ListedContent {
  static let separator: Character = ","
  var listed: String { code }
  init?(listed: Substring) { self.init(code: String(listed)) }
}

extension Interval: ColumnContent {
  var columnValue: ColumnValue { .text(code) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    guard let interval = Interval(code: row.text(column)) else { throw row.unreadable(column) }
    self = interval
  }
}

extension RefreshID: ColumnContent {
  var columnValue: ColumnValue { .integer(key) }
  init(_ row: Row, _ column: Int32) { self.init(key: row.integer(column)) }
}

extension AppID: ColumnContent {
  var columnValue: ColumnValue { .text(description) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    guard let app = AppID(row.text(column)) else { throw row.unreadable(column) }
    self = app
  }
}

extension PushID: ColumnContent {
  var columnValue: ColumnValue { .integer(Int64(bitPattern: number)) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self.init(try row.positive(column)) }
}

extension TransferID: ColumnContent {
  var columnValue: ColumnValue { .integer(Int64(bitPattern: number)) }
  init(_ row: Row, _ column: Int32) throws(StoreError) { self.init(try row.positive(column)) }
}

extension DiskCode {
  var columnValue: ColumnValue { .text(code) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    guard let word = Self(code: row.text(column)) else { throw row.unreadable(column) }
    self = word
  }
}
