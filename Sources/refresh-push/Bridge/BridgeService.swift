import CLinux
import Glibc
import HTTP
import RefreshConfig
import Systemd

/// The life of the program: makes the bridge ready, turns its loop, and does what signals and the service manager ask.
@MainActor
final class BridgeService {
  private let settings: Settings
  private let bridge: Bridge
  private let memory: Memory
  /// Readable once their signal has come.
  private let stopSignals: [Int32]
  private let reloadSignal: Int32
  /// How often the service manager is told that the loop turns; nil if it does not ask.
  private let beat: Duration?
  private var nextBeat = ContinuousClock.now
  private var toldStatus = ""
  /// The mistakes of the push.toml that is not in force.
  private var refused: [String] = []

  /// Reads push.toml and what is remembered.
  init(_ settings: Settings) throws(PushError) {
    self.settings = settings
    // Before there is a second thread, which would take the signal's old meaning.
    stopSignals = [SIGTERM, SIGINT].map(linux_signal_descriptor)
    reloadSignal = linux_signal_descriptor(SIGHUP)
    beat = Notify.watchdog().map { $0 / 2 }
    let configuration = try Self.load(settings)
    memory = try Memory(in: settings.stateDirectory)
    let loop: ExchangeLoop
    do throws(ExchangeFailure) {
      loop = try ExchangeLoop()
    } catch {
      throw PushError(.software, error.message)
    }
    bridge = try Bridge(settings.socket, memory: memory, secrets: settings.secrets, loop: loop)
    try put(configuration)
  }

  /// Works until SIGTERM or SIGINT.
  func run() {
    notify(.ready)
    while true {
      let ready = bridge.turn(watching: stopSignals + [reloadSignal], until: beat.map { _ in nextBeat })
      if !ready.isDisjoint(with: stopSignals) { break }
      if ready.contains(reloadSignal) { reload() }
      keepAlive()
      tellStatus()
    }
    notify(.stopping)
    bridge.disconnectAll()
  }

  private static func load(_ settings: Settings) throws(PushError) -> PushConfiguration {
    do throws(ConfigurationError) {
      return try PushConfiguration.load(from: settings.sources, home: settings.home)
    } catch {
      throw PushError(.configuration, error.description)
    }
  }

  /// Puts a configuration in force.
  private func put(_ configuration: PushConfiguration) throws(PushError) {
    try memory.keep(configuration.sources.map(\.name))
    bridge.replace(by: configuration.sources.map { $0.source(for: bridge) })
    bridge.journal.configured(configuration.sources.count)
  }

  /// Reads push.toml again, and puts all of it in force or nothing.
  private func reload() {
    var signal = signalfd_siginfo()
    read(reloadSignal, &signal, MemoryLayout.size(ofValue: signal))
    notify(.reloading(monotonicMicroseconds: EventLoop.monotonicMicroseconds()))
    do throws(PushError) {
      try put(try Self.load(settings))
      refused = []
    } catch {
      refused = error.description.split(separator: "\n").map(String.init)
      bridge.journal.refused(configuration: refused)
    }
    notify(.ready)
  }

  private func keepAlive() {
    guard let beat, nextBeat <= .now else { return }
    nextBeat = .now + beat
    send { () throws(SystemdError) in try Notify.send(.alive) }
  }

  private func tellStatus() {
    let status = bridge.statusLine(refusedConfiguration: refused)
    guard status != toldStatus else { return }
    toldStatus = status
    send { () throws(SystemdError) in try Notify.send(.status(status)) }
  }

  private func notify(_ notice: Notify) {
    toldStatus = notice == .stopping ? "Stopping." : bridge.statusLine(refusedConfiguration: refused)
    send { [toldStatus] () throws(SystemdError) in try Notify.send(notice, .status(toldStatus)) }
  }

  private func send(_ body: () throws(SystemdError) -> Bool) {
    do throws(SystemdError) { _ = try body() } catch { bridge.journal.cannot(error.description) }
  }
}
