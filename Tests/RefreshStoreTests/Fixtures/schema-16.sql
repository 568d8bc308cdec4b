PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO clock VALUES(1,'7f3c1a52-8f0e-4c5b-9d0e-3a1b2c3d4e5f',1750000000123456,86400000001,1,NULL,NULL);
CREATE TABLE device (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  pause TEXT,                       -- until-resumed, until-ac, until
  pause_until_us INTEGER,
  budget REAL,                      -- refreshes an app and day
  learned BLOB,                     -- see Learnings.encoded
  day INTEGER                       -- the nights passed up to it, in days since 29 December 1969
) STRICT;
INSERT INTO device VALUES(1,'until',93000000000,2.0,X'030000803f00000000111111111111713f0b2c303b0b2c303b0b2c303b0b2c303b0b2c303b0b2c303b0b2c303b0b2c303b0b2c303b0b2c303b0b2c303b0b2c303b0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0d37dc3c0000000000000000000000005765ec3da3dffc3da3dffc3d5765ec3de574d03d68a1b03da6c3933d3c8e7b3d33c15e3db9534e3df01a463d1c7a423db762b53c78ecb43c1cc8b43c2abeb43cbebbb43c37bbb43c1dbbb43c19bbb43c18bbb43c18bbb43c18bbb43c18bbb43cd0705e3d48f66d3d48f66d3dd0705e3d7e1f443de124263d04f40a3d537cec3c375bd13cd2e1c13c3223ba3c47b8b63cb762b53c78ecb43c1cc8b43c2abeb43cbebbb43c37bbb43c1dbbb43c19bbb43c18bbb43c18bbb43c18bbb43c18bbb43cb8aa843d10919e3d451fbb3db130d43d7ef9e23d7ef9e23db130d43d451fbb3d10919e3db8aa843d36e1613dde09483d6e25b73c3dd5af3c0d9bac3c8458ab3cdbe8aa3c86c6aa3c21bdaa3cd8baaa3c59baaa3c40baaa3c3cbaaa3c3bbaaa3cc33e033de6eb1c3d0a3b393d1715523d3cbd603d3cbd603d1715523d0a3b393de6eb1c3dc33e033d7060df3c2cc2c53c6e25b73c3dd5af3c0d9bac3c8458ab3cdbe8aa3c86c6aa3c21bdaa3cd8baaa3c59baaa3c40baaa3c3cbaaa3c3bbaaa3c09fa3c3dea024c3dc55e663da84e873dd1b9a13d75dabe3d6d6cd83d0a81e73d0a81e73d6d6cd83d75dabe3dd1b9a13d0a4efe3c906ad83cb399bf3c1e72b13c905caa3c403ca73cd003a63ca897a53c6576a53c4c6da53c156ba53c9a6aa53c1e72b13cb399bf3c906ad83c0a4efe3c4a06183d7372333d3e854b3de0b7593de0b7593d3e854b3d7372333d4a06183d0a4efe3c906ad83cb399bf3c1e72b13c905caa3c403ca73cd003a63ca897a53c6576a53c4c6da53c156ba53c9a6aa53c93294f3de7ae503d2f94543d15685d3d7b0b6f3df0fb863d43979e3d9c95bd3d88c1df3d13c1fd3d1fb9073e1fb9073ee4033e3d328b273d30f20d3d4075ed3c3817ca3c1aedb23ca6b6a53cc6199f3cb82e9c3c130b9b3c1da69a3c11879a3c130b9b3cb82e9c3cc6199f3ca6b6a53c1aedb23c3817ca3c4075ed3c30f20d3d328b273de4033e3da8444b3da8444b3de4033e3d328b273d30f20d3d4075ed3c3817ca3c1aedb23ca6b6a53cc6199f3cb82e9c3c130b9b3c1da69a3c11879a3c8a59873dfc60873d377c873dc2d4873d8ad4883db8638b3d6630913ddec69c3dae17b13d391cd03d70d5f83dd2dd123ecd792e3d46a43a3d46a43a3dcd792e3df9d8193d7a59023de012da3c819bb93cd057a43cce36983cca24923c03778f3c50ea8d3c1bf28d3c9b0e8e3c4a6b8e3c03778f3cca24923cce36983cd057a43c819bb93ce012da3c7a59023df9d8193dcd792e3d46a43a3d46a43a3dcd792e3df9d8193d7a59023de012da3c819bb93cd057a43cce36983cca24923c03778f3ca6b7a23dbdb7a23d37b8a23d65baa23d5cc3a23d22e4a23db44ea33d8c82a43d1997a73d0092ae3d5584bc3dd5f7d43d24abd13c6fa4fa3ca4e8133ddcbc273daa6e333daa6e333ddcbc273da4e8133d6fa4fa3c24abd13ccc75b23c05059e3cad73883cc173883c2674883cf975883c787d883cdd98883cf4f1883c4ef3893c83868c3c515c923c05059e3ccc75b23c24abd13c6fa4fa3ca4e8133ddcbc273daa6e333daa6e333ddcbc273da4e8133d6fa4fa3c24abd13ccc75b23c05059e3cb303aa3db303aa3db403aa3db803aa3dd103aa3d4f04aa3d9706aa3df60faa3d3532aa3d95a1aa3d4ee3ab3d681baf3df203963cc4f7a13c3decb63ca6ead63cf675003de99d173de3f12b3d08ef373d08ef373de3f12b3de99d173df675003d74db8b3c74db8b3c75db8b3c78db8b3c8cdb8b3cf4db8b3cd3dd8b3c82e58b3c98018c3ced5c8c3cc0648d3c8c08903cf203963cc4f7a13c3decb63ca6ead63cf675003de99d173de3f12b3d08ef373d08ef373de3f12b3de99d173df675003d72a5aa3d72a5aa3d72a5aa3d72a5aa3d72a5aa3d73a5aa3d77a5aa3d90a5aa3d0fa6aa3d59a8aa3dc0b1aa3d21d4aa3d66029f3c902da03cde2ba33c5ef4a93cfc81b73ceb44cf3c458cf33cdd96113dbed82b3dafe5423de17d503de17d503d976f9e3c976f9e3c976f9e3c976f9e3c976f9e3c976f9e3c9b6f9e3cb26f9e3c28709e3c47729e3cfd7a9e3cd69a9e3c66029f3c902da03cde2ba33c5ef4a93cfc81b73ceb44cf3c458cf33cdd96113dbed82b3dafe5423de17d503de17d503d0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e0000003e8988883c8988883c8988883c8988883c8988883c8988883c8988883c8988883c8988883c8988883c8988883c8988883c3333b33e6666e63e00000080',20274);
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
INSERT INTO app VALUES(1,'org.example.todo',1,1,0,1,1,NULL,-7000000,80000000000,-5000000,NULL,94000000000,79500000000,4,'-6000000 79000000000 80000000000',1,0,'60000000us','auto',1,91000000000,1,'catch-up',90000000000,0,92000000000,'näher 🛰️, it''s "soon"','-1 78000000000 86399000000',16884901888,'push',86399000000,'photos, the "first" 🛰️',3,1,86399500000,'not-configured,misconfigured,logged-out,disabled,paused,never,quiet,network,power,idle,calm,mounted,present,reachable,when,power-saver,settling,unsteady,wake-limit,suspending,app,concurrency,stopping',0,-8000000,0);
INSERT INTO app VALUES(2,'org.example.news',0,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,'',NULL,NULL,NULL,NULL,0,NULL,0,NULL,NULL,0,92000000000,'','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO app VALUES(3,'org.example.mail',0,0,1,0,0,'syncthing.service of user 1000',NULL,NULL,NULL,95000000000,NULL,NULL,0,'',7,1,NULL,'never',0,NULL,0,NULL,NULL,1,NULL,NULL,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,77000000000,1);
CREATE TABLE learned (
  app INTEGER PRIMARY KEY,          -- app.key
  data BLOB NOT NULL                -- see Learned.encoded
) STRICT;
INSERT INTO learned VALUES(1,X'0500000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ffff00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001324f0000014800000000000000000000000000000000000000000000000000000000000000000000010000c03f0000803e00401c46000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f');
CREATE TABLE opening (
  id INTEGER PRIMARY KEY,           -- in the order of time
  app INTEGER NOT NULL,             -- app.key
  wall_us INTEGER NOT NULL,
  ended_wall_us INTEGER,            -- null while it goes on, and when nobody saw its end
  is_observed INTEGER NOT NULL DEFAULT 0  -- a desktop showed it; otherwise it was reported
) STRICT;
INSERT INTO opening VALUES(1,1,1750081000123456,NULL,0);
INSERT INTO opening VALUES(2,1,1750082000123456,1750083000123456,1);
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
INSERT INTO refresh VALUES(4294967297,1,'foreground',1750000001123456,1234567,'new-data',NULL,NULL,NULL,NULL,1,'näher 🛰️',7);
INSERT INTO refresh VALUES(4294967298,1,'push',1750000002123456,1234567,'no-data',NULL,NULL,NULL,NULL,2,NULL,0);
INSERT INTO refresh VALUES(4294967299,1,'transfer',1750000003123456,1234567,'failed','exit',1,NULL,NULL,0,NULL,NULL);
INSERT INTO refresh VALUES(4294967300,1,'retry',1750000004123456,1234567,'failed','temporary',75,NULL,NULL,1,NULL,NULL);
INSERT INTO refresh VALUES(4294967301,1,'catch-up',1750000005123456,1234567,'failed','signal',11,NULL,NULL,2,NULL,NULL);
INSERT INTO refresh VALUES(4294967302,1,'change',1750000006123456,1234567,'failed','spawn',NULL,'cannot run /usr/bin/nothing: No such file or directory',NULL,0,NULL,NULL);
INSERT INTO refresh VALUES(4294967303,1,'manual',1750000007123456,1234567,'failed','reported',NULL,'no route',NULL,1,NULL,NULL);
INSERT INTO refresh VALUES(4294967304,1,'reported',1750000008123456,1234567,'failed','not-run',NULL,'pull',NULL,2,NULL,NULL);
INSERT INTO refresh VALUES(4294967305,1,'interval',1750000009123456,1234567,'failed','daemon-crashed',NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO refresh VALUES(4294967306,1,'foreground',1750000010123456,1234567,'failed','lost-client',NULL,NULL,NULL,1,NULL,NULL);
INSERT INTO refresh VALUES(4294967307,1,'push',1750000011123456,1234567,'failed','out-of-memory',NULL,NULL,NULL,2,NULL,NULL);
INSERT INTO refresh VALUES(4294967308,1,'transfer',1750000012123456,1234567,'failed','stopped',NULL,'deadline','deadline',0,NULL,NULL);
INSERT INTO refresh VALUES(4294967309,1,'retry',1750000013123456,1234567,'failed','stopped',NULL,'constraint-lost','constraint-lost',1,NULL,NULL);
INSERT INTO refresh VALUES(4294967310,1,'catch-up',1750000014123456,1234567,'failed','stopped',NULL,'logout','logout',2,NULL,NULL);
INSERT INTO refresh VALUES(4294967311,1,'change',1750000015123456,1234567,'failed','stopped',NULL,'user','user',0,NULL,NULL);
INSERT INTO refresh VALUES(4294967312,1,'manual',1750000016123456,1234567,'failed','stopped',NULL,'unconfigured','unconfigured',1,NULL,NULL);
INSERT INTO refresh VALUES(4294967313,1,'reported',1750000017123456,1234567,'failed','stopped',NULL,'shutdown','shutdown',2,NULL,NULL);
INSERT INTO refresh VALUES(4294967314,1,'interval',1750000018123456,1234567,'failed','stopped',NULL,'sleep','sleep',0,NULL,NULL);
INSERT INTO refresh VALUES(4294967315,1,'foreground',1750000019123456,1234567,'failed','stopped',NULL,'not-taken','not-taken',1,NULL,NULL);
INSERT INTO refresh VALUES(4294967386,1,'reported',1750086400023456,0,'new-data',NULL,NULL,NULL,NULL,0,NULL,NULL);
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
INSERT INTO task VALUES(4294967297,0,'pull','new-data',NULL,NULL,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967298,0,'pull','no-data',NULL,NULL,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967298,1,'push','no-data',NULL,NULL,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967300,0,'pull','failed','temporary',75,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967301,0,'pull','failed','signal',11,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967301,1,'push','failed','signal',11,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967303,0,'pull','failed','reported',NULL,'no route',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967304,0,'pull','failed','not-run',NULL,'pull',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967304,1,'push','failed','not-run',NULL,'pull',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967306,0,'pull','failed','lost-client',NULL,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967307,0,'pull','failed','out-of-memory',NULL,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967307,1,'push','failed','out-of-memory',NULL,NULL,1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967309,0,'pull','failed','stopped',NULL,'constraint-lost',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967310,0,'pull','failed','stopped',NULL,'logout',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967310,1,'push','failed','stopped',NULL,'logout',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967312,0,'pull','failed','stopped',NULL,'unconfigured',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967313,0,'pull','failed','stopped',NULL,'shutdown',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967313,1,'push','failed','stopped',NULL,'shutdown',1200000,7000,'näher 🛰️, it''s "done"',NULL);
INSERT INTO task VALUES(4294967315,0,'pull','new-data',NULL,NULL,NULL,1000000,7000,'',8589934592);
CREATE TABLE wait (
  id INTEGER PRIMARY KEY,           -- in the order of their ends
  app INTEGER NOT NULL,             -- app.key
  since_wall_us INTEGER NOT NULL,
  until_wall_us INTEGER NOT NULL,
  holds TEXT NOT NULL               -- with commas: network,power
) STRICT;
INSERT INTO wait VALUES(1,1,1750000001123456,1750000002023456,'not-configured,network');
INSERT INTO wait VALUES(2,1,1750000002123456,1750000003023456,'misconfigured,network');
INSERT INTO wait VALUES(3,1,1750000003123456,1750000004023456,'logged-out,network');
INSERT INTO wait VALUES(4,1,1750000004123456,1750000005023456,'disabled,network');
INSERT INTO wait VALUES(5,1,1750000005123456,1750000006023456,'paused,network');
INSERT INTO wait VALUES(6,1,1750000006123456,1750000007023456,'never,network');
INSERT INTO wait VALUES(7,1,1750000007123456,1750000008023456,'quiet,network');
INSERT INTO wait VALUES(8,1,1750000008123456,1750000009023456,'network,network');
INSERT INTO wait VALUES(9,1,1750000009123456,1750000010023456,'power,network');
INSERT INTO wait VALUES(10,1,1750000010123456,1750000011023456,'idle,network');
INSERT INTO wait VALUES(11,1,1750000011123456,1750000012023456,'calm,network');
INSERT INTO wait VALUES(12,1,1750000012123456,1750000013023456,'mounted,network');
INSERT INTO wait VALUES(13,1,1750000013123456,1750000014023456,'present,network');
INSERT INTO wait VALUES(14,1,1750000014123456,1750000015023456,'reachable,network');
INSERT INTO wait VALUES(15,1,1750000015123456,1750000016023456,'when,network');
INSERT INTO wait VALUES(16,1,1750000016123456,1750000017023456,'power-saver,network');
INSERT INTO wait VALUES(17,1,1750000017123456,1750000018023456,'settling,network');
INSERT INTO wait VALUES(18,1,1750000018123456,1750000019023456,'unsteady,network');
INSERT INTO wait VALUES(19,1,1750000019123456,1750000020023456,'wake-limit,network');
INSERT INTO wait VALUES(20,1,1750000020123456,1750000021023456,'suspending,network');
INSERT INTO wait VALUES(21,1,1750000021123456,1750000022023456,'app,network');
INSERT INTO wait VALUES(22,1,1750000022123456,1750000023023456,'concurrency,network');
INSERT INTO wait VALUES(23,1,1750000023123456,1750000024023456,'stopping,network');
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
INSERT INTO transfer VALUES(1,1,'photos','example.org:8443','any',97000000000,'download','https://anna:secret@example.org:8443/a?token=1','/home/anna/it''s',NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,NULL,-7,'waiting',NULL,-1,NULL,0,1,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO transfer VALUES(2,1,'photos','example.org:8443','unmetered',97000000000,'upload','http://example.org:8443/a','/home/anna/b','näher 🛰️','9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',1099511627776,1048576,1,1,'/home/anna/headers','/home/anna/credential',1,'All is there',-6,'transferring',NULL,NULL,NULL,1,2,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1000,'org.example.Todo');
INSERT INTO transfer VALUES(3,1,'photos','example.org:8443','wifi',97000000000,'download','https://anna:secret@example.org:8443/a?token=1','/home/anna/it''s',NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,NULL,-5,'paused',NULL,NULL,NULL,0,3,1,3,'HTTP status 503',17179869184,34359738368,'00','https://cdn.example.org/a','"5f3"','Sat, 21 Nov 2026 20:00:00 GMT','Sat, 21 Nov 2026 22:00:00 GMT',34359738368,8589934592,'7f3c1a52-8f0e-4c5b-9d0e-3a1b2c3d4e5f','https://example.org/files/1',-4711,NULL,NULL);
INSERT INTO transfer VALUES(4,1,'photos','example.org:8443','none',97000000000,'upload','http://example.org:8443/a','/home/anna/b','näher 🛰️','9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',1099511627776,1048576,1,1,'/home/anna/headers','/home/anna/credential',1,'All is there',-4,'no-space',NULL,NULL,8589934592,1,4,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1000,'org.example.Todo');
INSERT INTO transfer VALUES(5,1,'photos','example.org:8443','any',97000000000,'download','https://anna:secret@example.org:8443/a?token=1','/home/anna/it''s',NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,NULL,-3,'stopping','network',NULL,NULL,0,5,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO transfer VALUES(6,1,'photos','example.org:8443','unmetered',97000000000,'upload','http://example.org:8443/a','/home/anna/b','näher 🛰️','9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',1099511627776,1048576,1,1,'/home/anna/headers','/home/anna/credential',1,'All is there',-2,'stopping','paused',NULL,NULL,1,6,1,3,'HTTP status 503',17179869184,34359738368,'00','https://cdn.example.org/a','"5f3"','Sat, 21 Nov 2026 20:00:00 GMT','Sat, 21 Nov 2026 22:00:00 GMT',34359738368,8589934592,'7f3c1a52-8f0e-4c5b-9d0e-3a1b2c3d4e5f','https://example.org/files/1',-4711,1000,'org.example.Todo');
INSERT INTO transfer VALUES(7,1,'photos','example.org:8443','wifi',97000000000,'download','https://anna:secret@example.org:8443/a?token=1','/home/anna/it''s',NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,NULL,-1,'stopping','cancelled',NULL,NULL,0,7,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO transfer VALUES(8,1,'photos','example.org:8443','none',97000000000,'upload','http://example.org:8443/a','/home/anna/b','näher 🛰️','9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',1099511627776,1048576,1,1,'/home/anna/headers','/home/anna/credential',1,'All is there',0,'stopping','expired',NULL,NULL,1,8,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1000,'org.example.Todo');
INSERT INTO transfer VALUES(9,1,'photos','example.org:8443','any',97000000000,'download','https://anna:secret@example.org:8443/a?token=1','/home/anna/it''s',NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,NULL,1,'stopping','logged-out',NULL,NULL,0,9,1,3,'HTTP status 503',17179869184,34359738368,'00','https://cdn.example.org/a','"5f3"','Sat, 21 Nov 2026 20:00:00 GMT','Sat, 21 Nov 2026 22:00:00 GMT',34359738368,8589934592,'7f3c1a52-8f0e-4c5b-9d0e-3a1b2c3d4e5f','https://example.org/files/1',-4711,NULL,NULL);
INSERT INTO transfer VALUES(10,1,'photos','example.org:8443','unmetered',97000000000,'upload','http://example.org:8443/a','/home/anna/b','näher 🛰️','9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',1099511627776,1048576,1,1,'/home/anna/headers','/home/anna/credential',1,'All is there',2,'stopping','user',NULL,NULL,1,10,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1000,'org.example.Todo');
INSERT INTO transfer VALUES(11,1,'photos','example.org:8443','wifi',97000000000,'download','https://anna:secret@example.org:8443/a?token=1','/home/anna/it''s',NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,NULL,3,'stopping','sleep',NULL,NULL,0,11,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO transfer VALUES(12,1,'photos','example.org:8443','none',97000000000,'upload','http://example.org:8443/a','/home/anna/b','näher 🛰️','9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',1099511627776,1048576,1,1,'/home/anna/headers','/home/anna/credential',1,'All is there',4,'stopping','shutdown',NULL,NULL,1,12,1,3,'HTTP status 503',17179869184,34359738368,'00','https://cdn.example.org/a','"5f3"','Sat, 21 Nov 2026 20:00:00 GMT','Sat, 21 Nov 2026 22:00:00 GMT',34359738368,8589934592,'7f3c1a52-8f0e-4c5b-9d0e-3a1b2c3d4e5f','https://example.org/files/1',-4711,1000,'org.example.Todo');
INSERT INTO transfer VALUES(13,1,'photos','example.org:8443','any',97000000000,'download','https://anna:secret@example.org:8443/a?token=1','/home/anna/it''s',NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,NULL,5,'ended','done',96000000000,NULL,0,13,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO transfer VALUES(14,1,'photos','example.org:8443','unmetered',97000000000,'upload','http://example.org:8443/a','/home/anna/b','näher 🛰️','9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',1099511627776,1048576,1,1,'/home/anna/headers','/home/anna/credential',1,'All is there',6,'ended','failed',96000000000,NULL,1,14,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1000,'org.example.Todo');
INSERT INTO transfer VALUES(15,1,'photos','example.org:8443','wifi',97000000000,'download','https://anna:secret@example.org:8443/a?token=1','/home/anna/it''s',NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,NULL,7,'ended','cancelled',96000000000,NULL,0,15,1,3,'HTTP status 503',17179869184,34359738368,'00','https://cdn.example.org/a','"5f3"','Sat, 21 Nov 2026 20:00:00 GMT','Sat, 21 Nov 2026 22:00:00 GMT',34359738368,8589934592,'7f3c1a52-8f0e-4c5b-9d0e-3a1b2c3d4e5f','https://example.org/files/1',-4711,NULL,NULL);
INSERT INTO transfer VALUES(16,1,'photos','example.org:8443','none',97000000000,'upload','http://example.org:8443/a','/home/anna/b','näher 🛰️','9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',1099511627776,1048576,1,1,'/home/anna/headers','/home/anna/credential',1,'All is there',8,'ended','expired',96000000000,NULL,1,16,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1000,'org.example.Todo');
CREATE TABLE validator (
  app INTEGER NOT NULL,             -- app.key
  url TEXT NOT NULL,
  etag TEXT,
  last_modified TEXT,
  digest TEXT,
  final_url TEXT,                   -- the URL that sent the content; null if unknown
  PRIMARY KEY (app, url)
) STRICT, WITHOUT ROWID;
INSERT INTO validator VALUES(2,'https://example.org/feed','W/"1"','Sat, 21 Nov 2026 20:00:00 GMT',NULL,'https://cdn.example.org/näher');
INSERT INTO validator VALUES(2,'https://example.org/other',NULL,NULL,'00',NULL);
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
INSERT INTO push VALUES(3,1,'{"aps":{"content-available":1},"it''s":"näher 🛰️"}','it''s 3','very-low',98000000003,-98999999997,0,3);
INSERT INTO push VALUES(4,1,'{"aps":{"content-available":1},"it''s":"näher 🛰️"}',NULL,'low',98000000004,-98999999996,1,4);
INSERT INTO push VALUES(5,1,'{"aps":{"content-available":1},"it''s":"näher 🛰️"}','it''s 5','normal',98000000005,-98999999995,2,5);
INSERT INTO push VALUES(6,2,'{"aps":{"content-available":1},"it''s":"näher 🛰️"}',NULL,'high',98000000006,-98999999994,3,6);
CREATE TABLE push_dropped (
  id INTEGER PRIMARY KEY,           -- that of the push
  app INTEGER NOT NULL,             -- app.key
  content_id TEXT,
  arrived_wall_us INTEGER NOT NULL,
  dropped_wall_us INTEGER NOT NULL,
  merged INTEGER NOT NULL
) STRICT;
INSERT INTO push_dropped VALUES(1,1,'näher 🛰️',1749999999123456,1750000002123456,9);
INSERT INTO push_dropped VALUES(2,1,NULL,1750000001123456,1750000002123456,0);
CREATE TABLE push_seen (
  id INTEGER PRIMARY KEY,           -- in the order of time
  app INTEGER NOT NULL,             -- app.key
  message TEXT NOT NULL,
  wall_us INTEGER NOT NULL,
  UNIQUE (app, message)
) STRICT;
INSERT INTO push_seen VALUES(1,1,'ntfy/home/it''s',1750086400123457);
INSERT INTO push_seen VALUES(2,2,'mqtt/broker/1/näher',1750086400123457);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('transfer',16);
INSERT INTO sqlite_sequence VALUES('push',6);
CREATE INDEX opening_app ON opening (app, id);
CREATE INDEX refresh_app ON refresh (app, id);
CREATE INDEX wait_app ON wait (app, id);
CREATE INDEX push_dropped_app ON push_dropped (app, id);
CREATE VIEW history AS
SELECT
  (refresh.id >> 32) || '-' || (refresh.id & 0xffffffff) AS id, app.id AS app, trigger,
  datetime(started_wall_us / 1000000, 'unixepoch', 'localtime') AS started, duration_us / 1e6 AS seconds,
  outcome, cause, cause_code, cause_text, stop_reason
FROM refresh JOIN app ON app.key = refresh.app
ORDER BY refresh.id DESC;
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
COMMIT;
PRAGMA user_version=16;
