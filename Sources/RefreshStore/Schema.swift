/// The tables of the file, and the migrations to this release's tables.
///
/// Read them with `sqlite3` while the daemon runs: first `SELECT * FROM history`, or `timeline`, which also has the waits.
/// Instants in `app`, `device`, `transfer`, `push` and `clock` are microseconds of the boot clock of the boot in `clock`.
/// Add `clock.wall_offset_us` for Unix time. All other instants are Unix time.
enum Schema {
  /// The version of a new file, and the oldest that can be read: builds before the first release wrote lower versions.
  static let first = 16

  /// The SQL that brings a file of each version to the next, from ``first`` on.
  ///
  /// A released migration is never edited. A test loads a file of every released version.
  static let migrations: [String] = []

  /// The version that this release writes, kept in `PRAGMA user_version`.
  static var version: Int { first + migrations.count }

  /// The tables of version ``first``.
  static let tables = """
    CREATE TABLE clock (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      boot_id TEXT NOT NULL,
      wall_offset_us INTEGER NOT NULL,  -- Unix time less boot time
      saved_at_us INTEGER NOT NULL,
      start INTEGER NOT NULL,           -- how often the daemon has started
      -- Until a boot's wall clock is set: the clock of the last save before the boot, and when the state was restored.
      late_saved_wall_us INTEGER,
      late_restored_us INTEGER
    ) STRICT;

    CREATE TABLE device (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      pause TEXT,                       -- until-resumed, until-ac, until
      pause_until_us INTEGER,
      budget REAL,                      -- refreshes an app and day
      learned BLOB,                     -- see DeviceHabits.encoded
      day INTEGER                       -- the nights passed up to it, in days since 29 December 1969
    ) STRICT;

    CREATE TABLE app (
      key INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      is_foreground INTEGER NOT NULL DEFAULT 0,
      is_logged_out INTEGER NOT NULL DEFAULT 0,
      is_terminated INTEGER NOT NULL DEFAULT 0,
      is_owner_present INTEGER,         -- what the sessions last said; null for nothing yet
      was_attached INTEGER NOT NULL DEFAULT 0,  -- a process served its refreshes to the end
      kept_unit TEXT,                   -- the unit that its guard keeps from running, in this boot
      seen_at_us INTEGER,
      last_start_us INTEGER,
      fresh_at_us INTEGER,
      fresh_until_us INTEGER,
      planned_us INTEGER,
      grid_us INTEGER,                  -- from where a fixed background interval counts; null without one
      failures INTEGER NOT NULL DEFAULT 0,
      strikes_us TEXT NOT NULL DEFAULT '',  -- oldest first, with a space between two
      streak_failures INTEGER,          -- how many refreshes failed in a row; null for none
      is_streak_told INTEGER,
      foreground_interval TEXT,         -- set at run time: never, minimum, 300000000us
      background_interval TEXT,         -- set at run time: never, auto, 300000000us
      is_disabled INTEGER NOT NULL DEFAULT 0,
      skipped_until_us INTEGER,
      skips_all INTEGER NOT NULL DEFAULT 0,  -- until skipped_until_us, not only the next
      request_trigger TEXT,
      request_earliest_us INTEGER,
      is_forced INTEGER NOT NULL DEFAULT 0,
      one_shot_earliest_us INTEGER,
      one_shot_reason TEXT,
      pushed_us TEXT NOT NULL DEFAULT '',  -- oldest first, with a space between two
      running_id INTEGER,               -- the refresh that runs
      running_trigger TEXT,
      running_at_us INTEGER,
      running_session TEXT,
      running_push INTEGER,
      running_is_forced INTEGER,        -- null as 0
      waiting_since_us INTEGER,
      waiting_holds TEXT,
      is_stale_told INTEGER NOT NULL DEFAULT 0,
      held_since_us INTEGER,            -- since when it is due and held, if its file wants to know
      is_held_told INTEGER
    ) STRICT;

    -- Apart from app, which is written far more often and is far smaller.
    CREATE TABLE learned (
      app INTEGER PRIMARY KEY,          -- app.key
      data BLOB NOT NULL                -- see AppHabits.encoded
    ) STRICT;

    -- When the user had an app in the foreground.
    CREATE TABLE opening (
      id INTEGER PRIMARY KEY,           -- in the order of time
      app INTEGER NOT NULL,             -- app.key
      wall_us INTEGER NOT NULL,
      ended_wall_us INTEGER,            -- null while it goes on, and when nobody saw its end
      is_observed INTEGER NOT NULL DEFAULT 0  -- a desktop showed it; otherwise it was reported
    ) STRICT;

    CREATE INDEX opening_app ON opening (app, id);

    -- In the order of time, so that a burst of refreshes fills a few pages instead of touching one for each app.
    CREATE TABLE refresh (
      id INTEGER PRIMARY KEY,           -- start << 32 | number
      app INTEGER NOT NULL,             -- app.key
      trigger TEXT NOT NULL,
      started_wall_us INTEGER NOT NULL,
      duration_us INTEGER NOT NULL,
      outcome TEXT NOT NULL,            -- new-data, no-data, failed
      cause TEXT,
      cause_code INTEGER,
      cause_text TEXT,
      stop_reason TEXT,
      extra_completions INTEGER NOT NULL,
      content_id TEXT,
      merged INTEGER                    -- earlier pushes that its push replaced; null when no push woke it
    ) STRICT;

    CREATE INDEX refresh_app ON refresh (app, id);

    CREATE TABLE task (
      refresh INTEGER NOT NULL,         -- refresh.id
      position INTEGER NOT NULL,        -- the order of the app's file
      name TEXT NOT NULL,
      outcome TEXT NOT NULL,
      cause TEXT,
      cause_code INTEGER,
      cause_text TEXT,
      duration_us INTEGER NOT NULL,
      cpu_us INTEGER NOT NULL,
      message TEXT NOT NULL,
      bytes INTEGER,                    -- over the network; null when nobody counted
      PRIMARY KEY (refresh, position)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE wait (
      id INTEGER PRIMARY KEY,           -- in the order of their ends
      app INTEGER NOT NULL,             -- app.key
      since_wall_us INTEGER NOT NULL,
      until_wall_us INTEGER NOT NULL,
      holds TEXT NOT NULL               -- with commas: network,power
    ) STRICT;

    CREATE INDEX wait_app ON wait (app, id);

    -- AUTOINCREMENT: a number is used once, even after its transfer is forgotten.
    CREATE TABLE transfer (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      app INTEGER NOT NULL,             -- app.key
      session TEXT NOT NULL,
      host TEXT NOT NULL,
      network TEXT NOT NULL,            -- none, any, unmetered, wifi
      enqueued_us INTEGER NOT NULL,
      direction TEXT NOT NULL,          -- download, upload
      url TEXT NOT NULL,                -- whole, with its secrets
      path TEXT NOT NULL,
      description TEXT,
      sha256 TEXT,                      -- what it must be
      length INTEGER,                   -- what it must be
      max_rate INTEGER,                 -- bytes a second
      is_post INTEGER NOT NULL,
      is_tus INTEGER NOT NULL,
      headers_file TEXT,
      credential_file TEXT,
      uses_netrc INTEGER NOT NULL,
      notice TEXT,
      priority INTEGER NOT NULL,
      stage TEXT NOT NULL,              -- waiting, transferring, stopping, paused, no-space, ended
      stage_word TEXT,                  -- why it is stopping, how it ended
      stage_us INTEGER,                 -- from when it waits, when it ended
      needed INTEGER,                   -- bytes that the disk must have
      has_begun INTEGER NOT NULL,
      failures INTEGER NOT NULL,
      is_delivered INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      message TEXT,
      bytes INTEGER NOT NULL,
      total INTEGER,
      checked_sha256 TEXT,
      resume_url TEXT,
      resume_etag TEXT,
      resume_last_modified TEXT,
      resume_date TEXT,
      resume_total INTEGER,
      durable INTEGER,                  -- bytes that have outlived a loss of power
      resume_boot TEXT,                 -- the boot that wrote them
      tus_url TEXT,
      part_mark INTEGER,
      owner INTEGER,                    -- the user id of the app's owner, when the app asked for it
      flatpak TEXT                      -- the Flatpak that asked, to whose files the transfer is bound
    ) STRICT;

    -- What fetches remember of what they got.
    CREATE TABLE validator (
      app INTEGER NOT NULL,             -- app.key
      url TEXT NOT NULL,
      etag TEXT,
      last_modified TEXT,
      digest TEXT,
      final_url TEXT,                   -- the URL that sent the content; null if unknown
      PRIMARY KEY (app, url)
    ) STRICT, WITHOUT ROWID;

    -- The pushes that are still to be delivered. AUTOINCREMENT: a number is used once.
    CREATE TABLE push (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      app INTEGER NOT NULL,             -- app.key
      payload TEXT NOT NULL,
      content_id TEXT,
      urgency TEXT NOT NULL,            -- very-low, low, normal, high
      arrived_us INTEGER NOT NULL,
      earliest_us INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      merged INTEGER NOT NULL
    ) STRICT;

    -- The pushes that were dropped to make room for others.
    CREATE TABLE push_dropped (
      id INTEGER PRIMARY KEY,           -- that of the push
      app INTEGER NOT NULL,             -- app.key
      content_id TEXT,
      arrived_wall_us INTEGER NOT NULL,
      dropped_wall_us INTEGER NOT NULL,
      merged INTEGER NOT NULL
    ) STRICT;

    CREATE INDEX push_dropped_app ON push_dropped (app, id);

    -- The messages that were accepted, by their ids at their sources.
    CREATE TABLE push_seen (
      id INTEGER PRIMARY KEY,           -- in the order of time
      app INTEGER NOT NULL,             -- app.key
      message TEXT NOT NULL,
      wall_us INTEGER NOT NULL,
      UNIQUE (app, message)
    ) STRICT;

    -- For people.
    CREATE VIEW history AS
    SELECT
      (refresh.id >> 32) || '-' || (refresh.id & 0xffffffff) AS id, app.id AS app, trigger,
      datetime(started_wall_us / 1000000, 'unixepoch', 'localtime') AS started, duration_us / 1e6 AS seconds,
      outcome, cause, cause_code, cause_text, stop_reason
    FROM refresh JOIN app ON app.key = refresh.app
    ORDER BY refresh.id DESC;

    -- For people: refreshes and waits. The text says what came of a refresh, or what held up the app.
    CREATE VIEW timeline AS
    SELECT
      app.id AS app, datetime(wall_us / 1000000, 'unixepoch', 'localtime') AS started, seconds, kind, text
    FROM (
      SELECT
        app AS key, started_wall_us AS wall_us, duration_us / 1e6 AS seconds, 'refresh' AS kind,
        outcome || ifnull(' ' || cause, '') || ifnull(' ' || cause_code, '') || ifnull(' ' || cause_text, '') AS text
      FROM refresh
      UNION ALL
      SELECT app, since_wall_us, (until_wall_us - since_wall_us) / 1e6, 'wait', holds FROM wait
    ) JOIN app USING (key)
    ORDER BY wall_us DESC;

    """

  /// Brings the file to this release's version; each step happens completely or not at all.
  static func migrate(_ database: Database) throws(StoreError) {
    let readVersion = try Statement("PRAGMA user_version", on: database, to: .open)
    func found() throws(StoreError) -> Int64 {
      var version: Int64 = 0
      try readVersion.rows { row in version = row.integer(0) }
      return version
    }
    while try found() != version {
      try database.transaction(to: .upgrade) { () throws(StoreError) in
        // Read again: another process may have been first.
        let found = try found()
        guard found <= version else { throw .newerSchema(found, known: version, path: database.path) }
        guard found == 0 || found >= first else { throw .unreleased(found, path: database.path) }
        guard found < version else { return }
        let step = Int(found) - first
        let (sql, next) = found == 0 ? (tables, first) : (migrations[step], first + step + 1)
        try database.execute("\(sql)PRAGMA user_version = \(next)", to: .upgrade)
      }
    }
  }
}
