/// The tables, and the migrations of a file from an older release.
///
/// Read them with `sqlite3` while the daemon runs: first `SELECT * FROM history`, or `timeline`, which also has the waits.
/// Instants in `app`, `device`, `transfer`, `push` and `clock` are microseconds of the boot clock of the boot in `clock`.
/// Add `clock.wall_offset_us` for Unix time. All other instants are Unix time.
enum Schema {
  /// The version that this release writes, kept in `PRAGMA user_version`.
  static var version: Int { migrations.count }

  /// The migrations from each version to the next, beginning with an empty file.
  ///
  /// A released migration is never edited. A test loads a file of every released version.
  static let migrations = [
    """
    CREATE TABLE clock (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      boot_id TEXT NOT NULL,
      wall_offset_us INTEGER NOT NULL,  -- Unix time less boot time
      saved_at_us INTEGER NOT NULL,
      start INTEGER NOT NULL            -- how often the daemon has started
    ) STRICT;

    CREATE TABLE app (
      key INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      is_foreground INTEGER NOT NULL DEFAULT 0,
      is_logged_out INTEGER NOT NULL DEFAULT 0,
      foreground_interval TEXT,         -- set at run time: never, minimum, 300000000us
      background_interval TEXT,
      last_start_us INTEGER,
      fresh_at_us INTEGER,
      request_trigger TEXT,
      request_earliest_us INTEGER,
      running_id INTEGER,               -- the refresh that runs
      running_trigger TEXT,
      running_at_us INTEGER
    ) STRICT;

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
      extra_completions INTEGER NOT NULL
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
      PRIMARY KEY (refresh, position)
    ) STRICT, WITHOUT ROWID;

    -- For people.
    CREATE VIEW history AS
    SELECT
      (refresh.id >> 32) || '-' || (refresh.id & 0xffffffff) AS id, app.id AS app, trigger,
      datetime(started_wall_us / 1000000, 'unixepoch', 'localtime') AS started, duration_us / 1e6 AS seconds,
      outcome, cause, cause_code, cause_text, stop_reason
    FROM refresh JOIN app ON app.key = refresh.app
    ORDER BY refresh.id DESC;

    """,
    """
    ALTER TABLE app ADD COLUMN is_disabled INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE app ADD COLUMN skipped_until_us INTEGER;
    ALTER TABLE app ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
    -- Oldest first, with a space between two.
    ALTER TABLE app ADD COLUMN strikes_us TEXT NOT NULL DEFAULT '';
    ALTER TABLE app ADD COLUMN one_shot_earliest_us INTEGER;
    ALTER TABLE app ADD COLUMN one_shot_reason TEXT;
    ALTER TABLE app ADD COLUMN waiting_since_us INTEGER;
    ALTER TABLE app ADD COLUMN waiting_holds TEXT;
    ALTER TABLE app ADD COLUMN seen_at_us INTEGER;

    CREATE TABLE device (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      pause TEXT,                       -- until-resumed, until-ac, until
      pause_until_us INTEGER
    ) STRICT;

    CREATE TABLE wait (
      id INTEGER PRIMARY KEY,           -- in the order of their ends
      app INTEGER NOT NULL,             -- app.key
      since_wall_us INTEGER NOT NULL,
      until_wall_us INTEGER NOT NULL,
      holds TEXT NOT NULL               -- with commas: network,power
    ) STRICT;

    CREATE INDEX wait_app ON wait (app, id);

    -- For people: refreshes and waits, each line's text what came of the one or what held the other.
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

    """,
    """
    ALTER TABLE app ADD COLUMN planned_us INTEGER;
    ALTER TABLE app ADD COLUMN is_stale_told INTEGER NOT NULL DEFAULT 0;

    ALTER TABLE device ADD COLUMN budget REAL;   -- refreshes an app and day
    ALTER TABLE device ADD COLUMN learned BLOB;  -- see Learnings.encoded
    ALTER TABLE device ADD COLUMN day INTEGER;   -- the nights passed up to it, in days since 29 December 1969

    -- Apart from app, which is written far more often and is far smaller.
    CREATE TABLE learned (
      app INTEGER PRIMARY KEY,          -- app.key
      data BLOB NOT NULL                -- see Learned.encoded
    ) STRICT;

    -- When the user brought an app to the foreground.
    CREATE TABLE opening (
      id INTEGER PRIMARY KEY,           -- in the order of time
      app INTEGER NOT NULL,             -- app.key
      wall_us INTEGER NOT NULL
    ) STRICT;

    CREATE INDEX opening_app ON opening (app, id);

    """,
    """
    ALTER TABLE task ADD COLUMN bytes INTEGER;   -- over the network; null when nobody counted

    """,
    """
    ALTER TABLE app ADD COLUMN running_session TEXT;
    ALTER TABLE app ADD COLUMN fresh_until_us INTEGER;

    -- AUTOINCREMENT: a number is never given twice, also when the transfer that had it is forgotten.
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
      sha256 TEXT,                      -- what it is to be
      length INTEGER,                   -- what it is to be
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
      part_mark INTEGER
    ) STRICT;

    -- What fetches remember of what they got.
    CREATE TABLE validator (
      app INTEGER NOT NULL,             -- app.key
      url TEXT NOT NULL,
      etag TEXT,
      last_modified TEXT,
      digest TEXT,
      PRIMARY KEY (app, url)
    ) STRICT, WITHOUT ROWID;

    """,
    """
    ALTER TABLE app ADD COLUMN running_push INTEGER;
    -- Oldest first, with a space between two.
    ALTER TABLE app ADD COLUMN pushed_us TEXT NOT NULL DEFAULT '';
    ALTER TABLE app ADD COLUMN is_terminated INTEGER NOT NULL DEFAULT 0;

    ALTER TABLE refresh ADD COLUMN content_id TEXT;
    ALTER TABLE refresh ADD COLUMN merged INTEGER;   -- pushes that its own took the place of; null when none woke it

    -- The pushes that the apps are to be told. AUTOINCREMENT: a number is never given twice.
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

    -- Those that made room for others.
    CREATE TABLE push_dropped (
      id INTEGER PRIMARY KEY,           -- that of the push
      app INTEGER NOT NULL,             -- app.key
      content_id TEXT,
      arrived_wall_us INTEGER NOT NULL,
      dropped_wall_us INTEGER NOT NULL,
      merged INTEGER NOT NULL
    ) STRICT;

    CREATE INDEX push_dropped_app ON push_dropped (app, id);

    -- The messages that were taken, by their ids at their sources.
    CREATE TABLE push_seen (
      id INTEGER PRIMARY KEY,           -- in the order of time
      app INTEGER NOT NULL,             -- app.key
      message TEXT NOT NULL,
      wall_us INTEGER NOT NULL,
      UNIQUE (app, message)
    ) STRICT;

    """,
    // This version also has a new word in `trigger`: reported.
    """
    ALTER TABLE app ADD COLUMN held_since_us INTEGER;  -- since when it is due and held, if its file wants to know
    ALTER TABLE app ADD COLUMN is_held_told INTEGER;

    -- Until a boot's wall clock is set: the clock of the last save before the boot, and when the state was restored.
    ALTER TABLE clock ADD COLUMN late_saved_wall_us INTEGER;
    ALTER TABLE clock ADD COLUMN late_restored_us INTEGER;

    """,
    """
    ALTER TABLE app ADD COLUMN is_forced INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE app ADD COLUMN running_is_forced INTEGER;  -- null as 0

    ALTER TABLE opening ADD COLUMN ended_wall_us INTEGER;  -- null while it goes on, and when nobody saw its end
    ALTER TABLE opening ADD COLUMN is_observed INTEGER NOT NULL DEFAULT 0;  -- a desktop showed it; else it was told

    """,
    """
    ALTER TABLE transfer ADD COLUMN owner INTEGER;  -- the user id of the app's owner, when it was asked for

    """,
    "ALTER TABLE app ADD COLUMN kept_unit TEXT;  -- the unit that its guard keeps from running, in this boot\n",
    """
    ALTER TABLE app ADD COLUMN streak_failures INTEGER;  -- how many refreshes failed in a row; null for none
    ALTER TABLE app ADD COLUMN is_streak_told INTEGER;
    ALTER TABLE app ADD COLUMN skips_all INTEGER NOT NULL DEFAULT 0;  -- until skipped_until_us, not only the next

    """,
    "ALTER TABLE validator ADD COLUMN final_url TEXT;  -- the URL that sent the content; null for earlier releases\n",
    "ALTER TABLE transfer ADD COLUMN flatpak TEXT;  -- the Flatpak that asked, to whose files the transfer is bound\n",
    """
    ALTER TABLE app ADD COLUMN was_attached INTEGER NOT NULL DEFAULT 0;  -- a process served its refreshes to the end

    """,
    "ALTER TABLE app ADD COLUMN is_owner_present INTEGER;  -- what the sessions last said; null for nothing yet\n",
  ]
}
