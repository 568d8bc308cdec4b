/// The tables, and how a file of an older release becomes one of this release.
///
/// Read them with `sqlite3` while the daemon runs: instants in `app` and `clock` are microseconds of the boot clock of
/// the boot in `clock`, and `clock.wall_offset_us` added to one gives Unix time; `refresh` has Unix time already.
enum Schema {
  /// The version that this release writes, kept in `PRAGMA user_version`.
  static var version: Int { migrations.count }

  /// What leads from each version to the next, beginning with an empty file.
  ///
  /// A released migration is never edited. A test loads a file of every released version.
  private static let migrations = [
    """
    CREATE TABLE clock (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      boot_id TEXT NOT NULL,
      wall_offset_us INTEGER NOT NULL,  -- Unix time less boot time
      saved_at_us INTEGER NOT NULL,
      start INTEGER NOT NULL            -- how often the daemon has started
    ) STRICT;

    CREATE TABLE app (
      id TEXT PRIMARY KEY,
      is_foreground INTEGER NOT NULL,
      is_logged_out INTEGER NOT NULL,
      foreground_interval TEXT,         -- set at run time: never, minimum, 300000000us
      background_interval TEXT,
      last_start_us INTEGER,
      fresh_at_us INTEGER,
      request_trigger TEXT,
      request_earliest_us INTEGER,
      running_start INTEGER,            -- the refresh that runs: its id, trigger and start
      running_number INTEGER,
      running_trigger TEXT,
      running_at_us INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE refresh (
      app TEXT NOT NULL,
      start INTEGER NOT NULL,
      number INTEGER NOT NULL,
      trigger TEXT NOT NULL,
      started_wall_us INTEGER NOT NULL,
      duration_us INTEGER NOT NULL,
      outcome TEXT NOT NULL,            -- new-data, no-data, failed
      cause TEXT,
      cause_code INTEGER,
      cause_text TEXT,
      stop_reason TEXT,
      extra_completions INTEGER NOT NULL,
      PRIMARY KEY (app, start, number)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE task (
      app TEXT NOT NULL,
      start INTEGER NOT NULL,
      number INTEGER NOT NULL,
      position INTEGER NOT NULL,        -- the order of the app's file
      name TEXT NOT NULL,
      outcome TEXT NOT NULL,
      cause TEXT,
      cause_code INTEGER,
      cause_text TEXT,
      duration_us INTEGER NOT NULL,
      cpu_us INTEGER NOT NULL,
      message TEXT NOT NULL,
      PRIMARY KEY (app, start, number, position)
    ) STRICT, WITHOUT ROWID;
    """
  ]

  /// Brings the file to this release's version, each step whole or not at all.
  static func migrate(_ connection: Connection) throws(StoreError) {
    let readVersion = try Statement("PRAGMA user_version", on: connection, to: .open)
    func version() throws(StoreError) -> Int64 {
      var version: Int64 = 0
      try readVersion.rows { row in version = row.integer(0) }
      return version
    }
    while try version() != migrations.count {
      try connection.transaction(to: .upgrade) { () throws(StoreError) in
        // Read again: another process may have been first.
        let found = try version()
        guard found <= migrations.count, let step = Int(exactly: found), step >= 0 else {
          throw StoreError.newerSchema(found, known: migrations.count, path: connection.path)
        }
        guard step < migrations.count else { return }
        try connection.execute(migrations[step] + "PRAGMA user_version = \(step + 1)", to: .upgrade)
      }
    }
  }
}
