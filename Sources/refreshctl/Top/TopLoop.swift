import ArgumentParser
import CLinux
@preconcurrency import Glibc
import RefreshAPI

struct TopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Show the apps on a live screen, and switch them by keys.",
    discussion: """
      Keys: the arrows select an app, w explains its next refresh, r refreshes it now, d disables and enables it, f \
      marks it as in the foreground or the background, p pauses all apps for the rest of the day or resumes. \
      Other keys: / filters, ? shows all keys, q quits. The same key undoes what it did. The screen follows the \
      daemon, also after a restart of it.

      With --plain nothing moves, for screen readers: it prints the list once for each connection to the daemon, then \
      one line for each event, until Ctrl-C. So it does also without a terminal for input and output, and with \
      TERM=dumb. Other commands act there, such as `refreshctl run`.
      """)

  @Flag(help: "Print the list, then one line for each event; no screen and no keys.")
  var plain = false

  @OptionGroup var daemon: SocketOptions

  func run() throws {
    guard !plain, LiveTerminal.isThere else { return try printEvents() }
    var loop = try TopLoop(daemon)
    guard case .signal(let number) = try loop.run() else { return }
    // Ending by the same signal lets the shell of a script know about it.
    TopSignals.obey(number)
  }

  private func printEvents() throws(Failure) {
    try daemon.follow(ManagerInterface.Watch.self, .init()) { reply throws(Failure) in
      let screen = Screen(of: STDOUT_FILENO)
      // Request the list only after the events have begun, so that no change is missed in between.
      let isFirst = reply.event.kind == .watching
      let lines =
        isFirst
        ? screen.text(try DaemonClient(socket: daemon.socket).call(ManagerInterface.List.self, .init()))
        : [screen.line(reply.event)].compactMap(\.self)
      for line in lines { print(screen.encoded(line)) }
      StandardOutput.flush()
    }
  }
}

/// Runs the live screen: waits for keys, signals, replies and time together.
struct TopLoop {
  /// How the live screen ended.
  enum End {
    case quit
    case signal(Int32)
  }

  // Milliseconds.
  private static let betweenEvents: Int64 = 250
  private static let betweenFrames: Int64 = 1000
  /// Watch reports no changes of settings, new files or skips, so the list is also requested without an event.
  private static let betweenLists: Int64 = 5000
  /// After this time without a reply, the screen says that the daemon does not answer.
  private static let patience: Int64 = 3000

  private let options: SocketOptions
  private let signals: TopSignals
  private let terminal = LiveTerminal()
  private var state = TopState()
  private var keys = TopKeys()
  private var calls: [TopCall]

  /// Whether the list has changed since the last request.
  private var isListOld = false
  /// Whether an action, or the list after it, has no reply yet.
  private var isActing = false
  /// The later actions, each with its key and the selected app.
  private var laterActions: [(key: TopKey, app: String?)] = []
  /// Whether the state has changed since the last frame.
  private var isFrameOld = true
  private var askedAt: Int64 = 0
  private var drawnAt: Int64 = 0
  private var undecidedAt: Int64 = 0
  private var triedAt: Int64 = 0

  /// Connects to the daemon; a failure leaves the terminal unchanged.
  init(_ options: SocketOptions) throws(Failure) {
    self.options = options
    calls = [try TopCall.watch(options)]
    signals = try TopSignals()
  }

  /// Shows the screen until a key or a signal ends it.
  mutating func run() throws(Failure) -> End {
    try terminal.enter()
    defer { terminal.leave() }
    while true {
      try draw()
      let ready = wait()
      for descriptor in ready {
        guard let signal = signals.received(from: descriptor) else { continue }
        if TopSignals.ends.contains(signal) { return .signal(signal) }
        try handle(signal)
      }
      if ready.contains(STDIN_FILENO) {
        guard let bytes = terminal.read() else { return .signal(SIGHUP) }
        undecidedAt = Self.now
        if try press(keys.keys(in: bytes)) { return .quit }
      }
      if keys.isUndecided, Self.now >= undecidedAt + TopKeys.pause, try press(keys.decide()) { return .quit }
      for call in calls where ready.contains(call.descriptor) { try handleAnswers(of: call) }
      try keepTime()
    }
  }

  // MARK: Waiting

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Waits until the next frame, request or key is due, and returns the readable descriptors.
  private func wait() -> Set<Int32> {
    var set = ([STDIN_FILENO] + signals.all + calls.map(\.descriptor)).map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let milliseconds = isFrameOld ? 0 : max(0, (deadlines.min() ?? 0) - Self.now)
    // An interrupted wait returns no readable descriptor.
    guard poll(&set, nfds_t(set.count), Int32(milliseconds)) > 0 else { return [] }
    return Set(set.filter { $0.revents != 0 }.map(\.fd))
  }

  private var deadlines: [Int64] {
    var deadlines = [drawnAt + Self.betweenFrames]
    if keys.isUndecided { deadlines.append(undecidedAt + TopKeys.pause) }
    if state.link == .lost, calls.isEmpty {
      deadlines.append(triedAt + Int64(SocketOptions.secondsBetweenAttempts) * 1000)
    } else if has(.list) {
      if state.link == .connected { deadlines.append(askedAt + Self.patience) }
    } else {
      deadlines.append(askedAt + (isListOld ? Self.betweenEvents : Self.betweenLists))
    }
    return deadlines
  }

  private func has(_ kind: TopCall.Kind) -> Bool { calls.contains { $0.kind == kind } }

  /// Does all due work.
  private mutating func keepTime() throws(Failure) {
    let now = Self.now
    if state.link == .lost {
      if calls.isEmpty, now >= triedAt + Int64(SocketOptions.secondsBetweenAttempts) * 1000 { try connect() }
    } else if has(.list) {
      if state.link == .connected, now >= askedAt + Self.patience { change { $0.link = .silent } }
    } else if isListOld && now >= askedAt + Self.betweenEvents || now >= askedAt + Self.betweenLists {
      ask(withStatus: !isListOld)
    }
  }

  // MARK: The terminal

  private mutating func draw() throws(Failure) {
    let now = Self.now
    guard isFrameOld || now >= drawnAt + Self.betweenFrames else { return }
    let screen = TopScreen(Screen(of: STDOUT_FILENO))
    state.scroll = min(state.scroll, screen.mostScroll(of: state))
    try terminal.draw(screen.rows(of: state), on: screen.screen)
    (drawnAt, isFrameOld) = (now, false)
  }

  private mutating func change(_ change: (inout TopState) -> Void) {
    change(&state)
    isFrameOld = true
  }

  private mutating func handle(_ signal: Int32) throws(Failure) {
    isFrameOld = true
    switch signal {
    case SIGTSTP:
      terminal.leave()
      TopSignals.obey(SIGTSTP)
      try terminal.enter()
    // After SIGSTOP the terminal was not restored, and the shell may have changed it.
    case SIGCONT: try terminal.enter()
    default: try terminal.clear()
    }
  }

  /// Applies keys; returns true if one of them quits.
  private mutating func press(_ keys: [TopKey]) throws(Failure) -> Bool {
    for key in keys {
      isFrameOld = true
      switch state.press(key) {
      case nil: continue
      case .quit: return true
      case .redraw: try terminal.clear()
      case .why(let app): begin { options throws(Failure) in try TopCall.why(app, options) }
      case let request?:
        if isActing {
          // After the earlier action the same key will have the opposite effect.
          laterActions.append((key, state.subject?.id))
          change { $0.say("The last key has not been answered yet; this one comes after it.", .wait) }
        } else {
          act(request)
        }
      }
    }
    return false
  }

  // MARK: The daemon

  /// Starts a call, or shows why it cannot start.
  private mutating func begin(_ call: (SocketOptions) throws(Failure) -> TopCall?) {
    guard state.link != .lost else { return change { $0.say(SocketOptions.lostWords, .bad) } }
    do throws(Failure) {
      if let call = try call(options) { calls.append(call) }
    } catch {
      change { $0.say(error.text, .bad) }
    }
  }

  private mutating func act(_ request: TopRequest) {
    let screen = Screen(of: STDOUT_FILENO)
    let before = calls.count
    begin { options throws(Failure) in try TopCall.action(request, on: screen, options) }
    isActing = calls.count > before
  }

  /// Starts the next of the later actions.
  private mutating func actLater() {
    while !isActing, !laterActions.isEmpty {
      let (key, app) = laterActions.removeFirst()
      if let request = state.action(of: key, on: app) { act(request) }
    }
  }

  private mutating func ask(withStatus: Bool) {
    (askedAt, isListOld) = (Self.now, false)
    begin { options throws(Failure) in try TopCall.list(options) }
    if withStatus, !has(.status) { begin { options throws(Failure) in try TopCall.status(options) } }
    if case .why(let app, _) = state.page, !has(.why) {
      begin { options throws(Failure) in try TopCall.why(app, options) }
    }
  }

  private mutating func connect() throws(Failure) {
    triedAt = Self.now
    do throws(Failure) {
      calls = [try TopCall.watch(options)]
    } catch {
      guard error.status == .noDaemon else { throw error }
    }
  }

  /// Handles the replies of a call that have arrived, unless another reply has made the call unnecessary.
  private mutating func handleAnswers(of call: TopCall) throws(Failure) {
    guard calls.contains(where: { $0.descriptor == call.descriptor }) else { return }
    do throws(Failure) {
      while let answer = try call.next() {
        handle(answer)
        guard call.kind == .watch else { return forget(call) }
      }
    } catch {
      forget(call)
      try fail(call, error)
    }
  }

  private mutating func forget(_ call: TopCall) { calls.removeAll { $0.descriptor == call.descriptor } }

  private mutating func handle(_ answer: TopAnswer) {
    if state.link == .silent { change { $0.link = .connected } }
    switch answer {
    case .event(let event):
      if event.kind == .watching {
        if state.link == .lost {
          change {
            $0.link = .connected
            $0.say(SocketOptions.foundWords)
          }
        }
        return ask(withStatus: true)
      }
      if event.kind == .switchChanged, event.app == nil { change { $0.pause = event.pause } }
      isListOld = true
    case .list(let list):
      isActing = isActing && has(.action)
      change { $0.show(list) }
      actLater()
    case .status(let status): change { $0.pause = status.pause }
    case .why(let why): change { $0.show(why) }
    case .said(let text):
      change { $0.say(text) }
      // The pending list may be older than the action.
      calls.removeAll { $0.kind == .list }
      ask(withStatus: true)
    }
  }

  /// Handles a failed call.
  private mutating func fail(_ call: TopCall, _ failure: Failure) throws(Failure) {
    if call.kind == .action { (isActing, laterActions) = (false, []) }
    if failure.status == .noDaemon {
      if state.link != .lost || call.kind == .watch { lose() }
      return
    }
    switch call.kind {
    case .watch, .list: throw failure
    case .status, .action: change { $0.say(failure.text, .bad) }
    case .why:
      change {
        $0.page = .list
        $0.say(failure.text, .bad)
      }
    }
  }

  /// Waits until the daemon is back.
  private mutating func lose() {
    let wasActing = has(.action) || isActing
    (calls, isActing, laterActions, triedAt) = ([], false, [], Self.now)
    change {
      $0.link = .lost
      if wasActing { $0.say("cannot tell yet whether the last key worked; the daemon does not answer", .bad) }
    }
  }
}

/// The signals that the live screen handles in its loop, so that none interrupts a half-drawn frame.
struct TopSignals {
  static let ends: Set<Int32> = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// The descriptors that are readable after a signal (signalfd(2)).
  private let descriptors: [Int32: Int32]

  init() throws(Failure) {
    var descriptors: [Int32: Int32] = [:]
    for signal in Self.ends.union([SIGTSTP, SIGCONT, SIGWINCH]) {
      let descriptor = linux_signal_descriptor(signal)
      guard descriptor >= 0 else {
        throw Failure(
          status: .failed,
          text: "cannot wait for signals: \(errorText(errno)); raise the limit of open files (`ulimit -n`)")
      }
      descriptors[descriptor] = signal
    }
    self.descriptors = descriptors
  }

  var all: [Int32] { Array(descriptors.keys) }

  /// Reads the signal of a readable descriptor; nil for any other descriptor.
  func received(from descriptor: Int32) -> Int32? {
    guard let signal = descriptors[descriptor] else { return nil }
    var information = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    return read(descriptor, &information, size) == size ? signal : nil
  }

  /// Applies the default effect of a signal: ends this program, or stops it until SIGCONT.
  static func obey(_ number: Int32) {
    var (set, before) = (sigset_t(), sigset_t())
    sigemptyset(&set)
    sigaddset(&set, number)
    // nohup(1), or a shell that starts the program in the background, may have set signals to be ignored.
    if ends.contains(number) { signal(number, SIG_DFL) }
    raise(number)
    sigprocmask(SIG_UNBLOCK, &set, &before)
    sigprocmask(SIG_SETMASK, &before, nil)
  }
}
