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
