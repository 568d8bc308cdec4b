import RefreshEngine
import Testing

/// The events of an engine, as a table of text: one line an event, the time first.
///
/// Times are those since the script began, as systemd writes durations: `0s`, `1h30min`. The events:
///
///     configure APP [KEY=VALUE…] [; APP …]   these are all the apps; keys are in `AppLine`
///     limits KEY=VALUE…                      of the next `configure`: the floors `foreground` and `background`,
///                                            durations; `places` and `places-per-user`, `transfers` and `per-host`, numbers;
///                                            `sessions`, a word
///     launched|foreground|background|terminated|login|logout APP
///     lease N SIGNAL APP · lease-ends N APP
///     shown APP unknown|ended|running|front  what desktops show of it
///     owner APP there|gone                   what the sessions say of its owner
///     set APP KEY=INTERVAL… · reset APP      `foreground`, `background`
///     run APP [TRIGGER]
///     says REFRESH TASK OUTCOME [MESSAGE]    the task tells over the socket how it went
///     ends REFRESH TASK exit=N|signal=N|not-started|no-means|not-taken [printed] [changed]
///     await APP · unawait APP                calls wait for the app's next refresh, or no longer
///     change APP                             something changes in its watched folder
///     synced APP [new-data]                  the app has made a sync by itself
///     pause [DURATION] · unpause · disable APP · enable APP · skip APP
///     skip-all APP [DURATION]                every refresh by time, for so long; without a time no more
///     schedule APP DURATION                  a one-shot, so much later
///     retry-after REFRESH DURATION           the task says when to try again if it fails
///     fresh-for REFRESH DURATION             the task says how long there is nothing newer
///     enqueue N APP [session=S] [host=H] [network=N] [priority=P]     somebody asks for transfer N
///     report N done|failed|wrong|stopped|lost|no-space BYTES|retry [DURATION] [progressed]
///     pause-transfer|resume-transfer|cancel-transfer|fetched|room N · prioritize N P · transfer N (ask)
///     push N APP [ID] [urgency=U] [payload=P]     a push with the content id, told as `ID#N` or its payload
///     pushes APP                             ask; the pushes that wait, and for what
///     network wired|wifi|metered|gone · power mains|battery|low · idle yes|no · calm yes|no     what the sources say
///     zone EAST [AT=EAST…]                   the zone, and when daylight saving changes it
///     clock ±DURATION                        somebody sets the wall clock
///     suspend DURATION [resumed]             the machine sleeps: processes freeze, the boot clock runs; the end is told
///     stop                                   SIGTERM to the daemon
///     down · up · boot                       the daemon is killed; starts again; the machine boots and it starts
///     wake                                   a wake that nobody asked for
///     keeps|keeps-none|returns|keeper-fails KEEPER APP        the keeper of a guard reports, or ends
///     why APP · next                         ask; the answer is a line of the trace
///     ahead APP                              ask when it is due, what holds it then, and when it starts
///     forecast DURATION                      ask; a line for each wake and for each app that does not start
///     end                                    only time passes
struct Script {
  struct Line {
    var at: Duration
    var words: [String]
  }

  var lines: [Line]

  init(_ text: String) throws {
    lines = try text.split(separator: "\n").compactMap { line in
      let words = line.replacing(";", with: " ;").split(separator: " ").map(String.init)
      guard let time = words.first else { return nil }
      return Line(at: try duration(time), words: Array(words.dropFirst()))
    }
  }
}

/// A script that cannot be read: a mistake in the test.
struct ScriptError: Error {
  var text: String
}

/// Runs the script and holds its trace against the expected one, line by line; blanks do not count.
///
/// Compares only the lines of the trace whose first word after the time is in `only`; all if it is empty.
func expect(
  _ script: String, gives expected: String, only: Set<String> = [],
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  var timeline = Timeline()
  try timeline.play(Script(script))
  let trace = timeline.trace.filter { only.isEmpty || only.contains(String($0.split(separator: " ")[1])) }
  let wanted = expected.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
  #expect(trace == wanted.filter { !$0.isEmpty }, sourceLocation: sourceLocation)
}

private let units: [(name: String, microseconds: Int64)] = [
  ("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000), ("ms", 1000), ("us", 1),
]

/// Reads a sum of terms such as `1h30min`, with a sign or without.
func duration(_ text: String) throws -> Duration {
  var rest = text[...]
  var sign: Int64 = 1
  if let first = rest.first, first == "-" || first == "+" {
    sign = first == "-" ? -1 : 1
    rest.removeFirst()
  }
  var microseconds: Int64 = 0
  while !rest.isEmpty {
    let digits = rest.prefix { $0.isNumber }
    rest = rest.dropFirst(digits.count)
    let name = rest.prefix { $0.isLetter }
    rest = rest.dropFirst(name.count)
    guard let count = Int64(digits), let unit = units.first(where: { $0.name == name }) else {
      throw ScriptError(text: "\(text) is no duration")
    }
    microseconds += count * unit.microseconds
  }
  return .microseconds(sign * microseconds)
}

extension Duration {
  /// The text that `duration(_:)` reads, the largest units first.
  var text: String {
    var rest = inMicroseconds
    guard rest != 0 else { return "0s" }
    var text = rest < 0 ? "-" : ""
    rest = abs(rest)
    for unit in units where rest >= unit.microseconds {
      text += "\(rest / unit.microseconds)\(unit.name)"
      rest %= unit.microseconds
    }
    return text
  }
}

func appID(_ name: String) throws -> AppID {
  guard let id = AppID("app.\(name)") else { throw ScriptError(text: "\(name) names no app") }
  return id
}

func backgroundInterval(_ text: String) throws -> BackgroundInterval {
  if text == "never" { return .never }
  guard text.hasPrefix("auto") else { return .every(try duration(text)) }
  return .auto(floor: text == "auto" ? nil : try duration(String(text.dropFirst("auto,".count))))
}

func interval(_ text: String) throws -> Interval {
  switch text {
  case "never": .never
  case "minimum": .minimum
  default: .every(try duration(text))
  }
}
