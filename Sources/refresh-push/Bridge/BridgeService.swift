import CLinux
import Glibc
import HTTP
import RefreshAPI
import RefreshConfig
import Systemd

/// The program's main loop: starts the bridge, turns its loop, and serves signals and the service manager.
@MainActor
final class BridgeService {
  private let settings: BridgeSettings
  private let bridge: Bridge
  private let state: BridgeState
  /// Descriptors that are readable after SIGTERM or SIGINT.
  private let stopSignals: [Int32]
  private let reloadSignal: Int32
  /// The interval of watchdog messages; nil if the service manager wants none.
  private let beat: Duration?
  private var nextBeat = ContinuousClock.now
  private var sentStatus = ""
  /// The mistakes of a refused push.toml.
  private var refused: [String] = []

  /// Reads push.toml and the stored state.
  init(_ settings: BridgeSettings) throws(ServiceError) {
    self.settings = settings
    // The signals must be blocked before a second thread starts, because it inherits the mask.
    stopSignals = [SIGTERM, SIGINT].map(linux_signal_descriptor)
    reloadSignal = linux_signal_descriptor(SIGHUP)
    beat = Notify.watchdog().map { $0 / 2 }
    let configuration = try Self.load(settings)
    state = try BridgeState(in: settings.stateDirectory)
    let loop: ExchangeLoop
    do throws(ExchangeFailure) {
      loop = try ExchangeLoop()
    } catch {
      throw ServiceError(.software, error.message)
    }
    bridge = try Bridge(settings.socket, state: state, secrets: settings.secrets, loop: loop)
    try put(configuration)
  }

  /// Runs until SIGTERM or SIGINT.
  func run() {
    notify(.ready)
    while true {
      let ready = bridge.turn(watching: stopSignals + [reloadSignal], until: beat.map { _ in nextBeat })
      if !ready.isDisjoint(with: stopSignals) { break }
      if ready.contains(reloadSignal) { reload() }
      keepAlive()
      sendStatus()
    }
    notify(.stopping)
    bridge.disconnectAll()
  }

  private static func load(_ settings: BridgeSettings) throws(ServiceError) -> PushConfiguration {
    do throws(ConfigurationError) {
      return try PushConfiguration.load(from: settings.sources, home: settings.home)
    } catch {
      throw ServiceError(.configuration, error.description)
    }
  }

  /// Puts a configuration in force.
  private func put(_ configuration: PushConfiguration) throws(ServiceError) {
    try state.keep(configuration.sources.map(\.name))
    bridge.replace(by: configuration.sources.map { $0.source(for: bridge) })
    bridge.journal.configured(configuration.sources.count)
  }

  /// Reads push.toml again, and applies all of it or none.
  private func reload() {
    var signal = signalfd_siginfo()
    read(reloadSignal, &signal, MemoryLayout.size(ofValue: signal))
    notify(.reloading(monotonicMicroseconds: EventLoop.monotonicMicroseconds()))
    do throws(ServiceError) {
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

  private func sendStatus() {
    let status = bridge.statusLine(refusedConfiguration: refused)
    guard status != sentStatus else { return }
    sentStatus = status
    send { () throws(SystemdError) in try Notify.send(.status(status)) }
  }

  private func notify(_ notice: Notify) {
    sentStatus = notice == .stopping ? "Stopping." : bridge.statusLine(refusedConfiguration: refused)
    send { [sentStatus] () throws(SystemdError) in try Notify.send(notice, .status(sentStatus)) }
  }

  private func send(_ body: () throws(SystemdError) -> Bool) {
    do throws(SystemdError) { _ = try body() } catch { bridge.journal.cannot(error.description) }
  }
}
