/// A column of the tables of apps, with its title.
enum AppColumn: String {
  case app = "APP"
  case phase = "PHASE"
  case next = "NEXT"
  case heldBy = "HELD BY"
  case last = "LAST"
  case age = "DATA AGE"

  func cell(of row: AppRow) -> Cell {
    switch self {
    case .app: row.app
    case .phase: row.phase
    case .next: row.next
    case .heldBy: row.heldBy
    case .last: row.last
    case .age: row.age
    }
  }

  /// Makes a table of these columns, which cuts the last results first.
  static func table(_ columns: [AppColumn], _ rows: [AppRow], keepsIDs: Bool) -> Table {
    let prose = columns.firstIndex(of: .last) ?? columns.count - 1
    var table = Table(titles: columns.map(\.rawValue), prose: prose, keepsIdentity: keepsIDs)
    table.rows = rows.map { row in columns.map { $0.cell(of: row) } }
    return table
  }
}

/// An app as a row of a table.
struct AppRow {
  let app: Cell
  let phase: Cell
  let next: Cell
  let heldBy: Cell
  let last: Cell
  let age: Cell
}

extension Cell {
  /// The width of the part before a colon: for a last result, its outcome and time.
  var brief: Int { TextWidth.of(String(text.prefix { $0 != ":" })) }
}
