import RefreshEngine

/// A record with fixed columns of a table.
///
/// A single function names each column, once, with the property that it holds. The SQL, the binding and the reading all
/// follow from that function, so none of them can fall out of step.
protocol ColumnRecord {
  /// Visits every column, in the order of the SQL.
  mutating func visit(_ columns: inout Columns) throws(StoreError)
}

/// A visit to the columns of a record: collects their names, binds their values, or reads them from a row.
struct Columns {
  private enum Purpose {
    case naming
    case binding
    case bindingNulls
    case reading(Row)
    case skipping
  }

  private var purpose: Purpose
  /// The index of the next column in the row.
  private var index: Int32
  private var names: [String] = []
  private var values: [ColumnValue] = []

  private init(_ purpose: Purpose, from index: Int32 = 0) {
    self.purpose = purpose
    self.index = index
  }

  /// The names of a record's columns, which do not depend on its contents.
  static func names(of record: some ColumnRecord) throws(StoreError) -> [String] {
    var (columns, record) = (Columns(.naming), record)
    try record.visit(&columns)
    return columns.names
  }

  /// The values to bind for a record, in the order of the names.
  static func values(of record: some ColumnRecord) throws(StoreError) -> [ColumnValue] {
    var (columns, record) = (Columns(.binding), record)
    try record.visit(&columns)
    return columns.values
  }

  /// Fills a record from a row; `index` is the column of the row for the record's first.
  static func read(_ record: inout some ColumnRecord, from row: Row, at index: Int32) throws(StoreError) {
    var columns = Columns(.reading(row), from: index)
    try record.visit(&columns)
  }

  /// Whether the visit fills the record from a row.
  var isReading: Bool {
    if case .reading = purpose { true } else { false }
  }

  /// A column and the property that it holds.
  mutating func callAsFunction<Content: ColumnContent>(
    _ name: String, _ content: inout Content
  ) throws(StoreError) {
    try visit(name, content.columnValue) { row, index throws(StoreError) in content = try Content(row, index) }
  }

  /// The columns of a part that the record may lack; then the first of them is null.
  ///
  /// A part that the row has is read into a copy of `blank`.
  mutating func optional<Part: ColumnRecord>(_ part: inout Part?, blank: Part) throws(StoreError) {
    var visited = part ?? blank
    let before = purpose
    defer { purpose = before }
    switch purpose {
    case .binding where part == nil: purpose = .bindingNulls
    case .reading(let row) where row.isNull(index):
      purpose = .skipping
      part = nil
    case .reading:
      visited = blank
      try visited.visit(&self)
      return part = visited
    default: break
    }
    try visited.visit(&self)
  }

  /// A column for a number of bytes, or for a count as large.
  mutating func size(_ name: String, _ size: inout Int64) throws(StoreError) {
    try visit(name, .integer(size)) { row, index throws(StoreError) in size = try row.size(index) }
  }

  /// A column for a number of bytes; null if unknown.
  mutating func size(_ name: String, _ size: inout Int64?) throws(StoreError) {
    try visit(name, size.columnValue) { row, index throws(StoreError) in
      size = row.isNull(index) ? nil : try row.size(index)
    }
  }

  /// A column for a count that may grow by one.
  mutating func count(_ name: String, _ count: inout Int32) throws(StoreError) {
    try visit(name, .integer(Int64(count))) { row, index throws(StoreError) in count = try row.count(index) }
  }

  /// A column for microseconds of Unix time.
  mutating func microseconds(_ name: String, _ microseconds: inout Int64) throws(StoreError) {
    try visit(name, .integer(microseconds)) { row, index throws(StoreError) in
      microseconds = try row.microseconds(index)
    }
  }

  /// A column for bytes in their own form.
  mutating func blob(_ name: String, _ bytes: inout [UInt8]) throws(StoreError) {
    try visit(name, .blob(bytes)) { row, index in bytes = row.blob(index) }
  }

  /// The error for a column with content that no release wrote.
  func unreadable(_ name: String, _ content: String) -> StoreError {
    guard case .reading(let row) = purpose else { return .unreadable(column: name, content, path: "") }
    return .unreadable(column: name, content, path: row.path)
  }

  /// The value for a word in a column.
  func code<Word: DiskCode>(_ name: String, _ text: String) throws(StoreError) -> Word {
    guard let word = Word(code: text) else { throw unreadable(name, text) }
    return word
  }

  private mutating func visit(
    _ name: String, _ value: @autoclosure () -> ColumnValue, read: (Row, Int32) throws(StoreError) -> Void
  ) throws(StoreError) {
    switch purpose {
    case .naming: names.append(name)
    case .binding: values.append(value())
    case .bindingNulls: values.append(.null)
    case .reading(let row): try read(row, index)
    case .skipping: break
    }
    index += 1
  }
}

extension [String] {
  /// The names as a list in SQL.
  var list: String { joined(separator: ", ") }
  /// A parameter of SQL for each name.
  var parameters: String { map { _ in "?" }.list }
  /// Assignments of SQL that take each column from the rejected row.
  var assignedFromExcluded: String { map { "\($0) = excluded.\($0)" }.list }
  /// Assignments of SQL with a parameter for each column.
  var assigned: String { map { "\($0) = ?" }.list }
  /// The names as columns of this table.
  func of(_ table: String) -> [String] { map { "\(table).\($0)" } }
}

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

extension BackgroundInterval: ColumnContent {
  var columnValue: ColumnValue { .text(code) }
  init(_ row: Row, _ column: Int32) throws(StoreError) {
    guard let interval = BackgroundInterval(code: row.text(column)) else { throw row.unreadable(column) }
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

/// A value that is stored as one word.
///
/// The word is the raw value in the engine, which the fixtures of released schemas pin. A new word is a new schema
/// version, because an older refreshd cannot read it.
protocol DiskCode: RawRepresentable<String>, ColumnContent {}

extension DiskCode {
  var code: String { rawValue }

  init?(code: String) { self.init(rawValue: code) }
}

extension Trigger: DiskCode {}
extension Outcome.Kind: DiskCode {}
extension Cause.Kind: DiskCode {}
extension StopReason: DiskCode {}
extension Hold.Name: DiskCode {}
extension NetworkConstraint: DiskCode {}
extension TransferStop: DiskCode {}
extension TransferResult: DiskCode {}
extension TransferRequest.Direction: DiskCode {}
extension Urgency: DiskCode {}

extension RefreshID {
  /// The id as one integer in the order of the ids: start << 32 | number.
  var key: Int64 { Int64(bitPattern: UInt64(run.start) << 32 | UInt64(run.number)) }

  init(key: Int64) {
    let bits = UInt64(bitPattern: key)
    self.init(start: UInt32(bits >> 32), number: UInt32(truncatingIfNeeded: bits))
  }
}

extension Interval {
  private static let unit = "us"

  /// The interval as one word: `never`, `minimum`, or microseconds such as `300000000us`.
  var code: String { text { "\($0.inMicroseconds)\(Self.unit)" } }

  init?(code: String) {
    guard code.hasSuffix(Self.unit) else {
      self.init(word: code)
      return
    }
    guard let microseconds = Int64(code.dropLast(Self.unit.count)) else { return nil }
    self = .every(.microseconds(microseconds))
  }
}

extension BackgroundInterval {
  /// The interval as one word: `never`, `auto`, or microseconds such as `300000000us`.
  ///
  /// Only a file sets the floor of `auto`, so the store has none.
  var code: String {
    switch self {
    case .never: "never"
    case .every(let duration): Interval.every(duration).code
    case .auto: "auto"
    }
  }

  init?(code: String) {
    switch (code, Interval(code: code)) {
    case ("auto", _): self = .auto()
    case (_, .never?): self = .never
    case (_, .every(let duration)?): self = .every(duration)
    default: return nil
    }
  }
}
