extension Schema {
  /// Brings the file to this release's version; each step happens completely or not at all.
  static func migrate(_ database: Database) throws(StoreError) {
    let readVersion = try Statement("PRAGMA user_version", on: database, to: .open)
    func version() throws(StoreError) -> Int64 {
      var version: Int64 = 0
      try readVersion.rows { row in version = row.integer(0) }
      return version
    }
    while try version() != migrations.count {
      try database.transaction(to: .upgrade) { () throws(StoreError) in
        // Read again: another process may have been first.
        let found = try version()
        guard found <= migrations.count, let step = Int(exactly: found), step >= 0 else {
          throw StoreError.newerSchema(found, known: migrations.count, path: database.path)
        }
        guard step < migrations.count else { return }
        try database.execute(migrations[step] + "PRAGMA user_version = \(step + 1)", to: .upgrade)
      }
    }
  }
}
