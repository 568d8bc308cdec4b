import Glibc
import HTTP
import RefreshConfig

/// A connection to an MQTT broker, whose socket the caller polls.
///
/// The calling thread owns the object, because ``connect()`` blocks. Each connection has a new object, so that no state
/// is left from the last one. No message is acknowledged before ``acknowledge()``: if the caller drops the client instead,
/// the broker sends the messages again.
final class MQTTClient {
  /// The most unsent bytes at which reading stops, for a broker that sends and does not read.
  private static let mostUnsent = 64 << 10
  /// The bytes that are read at once.
  private static let portion = 16 << 10

  private let options: BrokerOptions
  private let version: MQTTVersion
  private let connection: RawConnection
  private var packets: MQTTPacketBuffer
  private var unsent: [UInt8] = []
  private var arrivals: [MQTTArrival] = []
  private var unacknowledged: [(number: UInt16, isRefused: Bool)] = []
  private var lastSent = ContinuousClock.now
  private var lastHeard = ContinuousClock.now
  private var pingedAt: ContinuousClock.Instant?
  /// Whether bytes may have arrived that poll(2) does not see, because TLS holds them.
  private(set) var hasMore = false

  /// Throws if out of memory, or if a file of certificates cannot be read.
  init(_ options: BrokerOptions, version: MQTTVersion) throws(BrokerEnd) {
    self.options = options
    self.version = version
    packets = MQTTPacketBuffer(limit: Int(options.maxPacket))
    do throws(ExchangeFailure) {
      for path in [options.tls?.caFile, options.tls?.certificateFile, options.tls?.keyFile].compactMap({ $0 }) {
        try PlainFile.check(path)
      }
    } catch {
      throw .unreachable(error.message)
    }
    do throws(RawConnection.Failure) {
      connection = try RawConnection(host: options.host, port: options.port, tls: options.tls)
    } catch {
      throw BrokerEnd(error, host: options.host, port: options.port)
    }
  }

  /// Resolves the host, connects and queues the CONNECT; blocks until the host answers or is given up.
  func connect() throws(BrokerEnd) {
    do throws(RawConnection.Failure) {
      try connection.open()
    } catch {
      throw BrokerEnd(error, host: options.host, port: options.port)
    }
    (lastSent, lastHeard) = (.now, .now)
    send(.connect)
  }

  /// Queues a packet.
  func send(_ request: MQTTRequest) { unsent += request.bytes(options, version) }

  /// Disconnects, and the broker keeps the session.
  ///
  /// A full socket loses the DISCONNECT, which changes nothing.
  func leave(_ fault: MQTTFault? = nil) throws(BrokerEnd) {
    send(.disconnect(fault?.code))
    try write()
  }

  // MARK: Turning

  /// The descriptor to poll.
  var descriptor: Int32 { connection.descriptor }

  /// Whether ``write()`` has bytes to send.
  var wantsToWrite: Bool { !unsent.isEmpty }

  /// Whether the broker takes the acknowledgements, so that more may be read.
  var mayRead: Bool { unsent.count < Self.mostUnsent }

  /// Reads what has arrived, at most one portion.
  func read() throws(BrokerEnd) {
    let bytes = try here { () throws(RawConnection.Failure) in try connection.receive(most: Self.portion) }
    hasMore = bytes != nil
    guard let bytes else { return }
    lastHeard = .now
    do throws(MQTTFault) {
      for packet in try packets.append(bytes) { try receive(packet) }
    } catch {
      do throws(BrokerEnd) { try leave(error) } catch { hasMore = false }
      throw .broken(error.what, by: "\(options.host):\(options.port)")
    }
  }

  private func receive(_ packet: MQTTPacketBuffer.Packet) throws(MQTTFault) {
    let arrival = try MQTTArrival(packet, version: version, largest: options.largestPayload)
    if case .message(let message) = arrival, message.packet > 0 {
      unacknowledged.append((message.packet, message.hasLongTopic))
    }
    arrivals.append(arrival)
  }

  /// Queues the acknowledgements of all messages that ``drainArrivals()`` has returned.
  func acknowledge() {
    for (number, isRefused) in unacknowledged { send(isRefused ? .refuse(number) : .acknowledge(number)) }
    unacknowledged = []
  }

  /// Sends as much of the queue as the system takes.
  func write() throws(BrokerEnd) {
    guard wantsToWrite else { return }
    let count = try here { () throws(RawConnection.Failure) in try connection.send(unsent) }
    unsent.removeFirst(count)
    if count > 0 { lastSent = .now }
  }

  /// Queues a ping if one is due, and ends the connection if the last one has no answer.
  ///
  /// While the answers are not read (`isReading` is false), silence means nothing.
  func keepAlive(every seconds: UInt16, isReading: Bool) throws(BrokerEnd) {
    let now = ContinuousClock.now
    let period = Duration.seconds(Int(seconds))
    if !isReading {
      (lastHeard, pingedAt) = (now, nil)
    } else if let at = pingedAt, lastHeard > at {
      pingedAt = nil
    }
    if let at = pingedAt {
      guard now < at + period else {
        throw .unreachable(
          "cannot reach \(options.host):\(options.port): it was silent for longer than keep_alive")
      }
    } else if min(lastSent, lastHeard) + period <= now, !wantsToWrite {
      send(.ping)
      if isReading { pingedAt = now }
    }
  }

  /// The number of packets that wait for ``drainArrivals()``.
  var waiting: Int { arrivals.count }

  /// Removes and returns the packets since the last call.
  func drainArrivals() -> [MQTTArrival] {
    defer { arrivals = [] }
    return arrivals
  }

  private func here<Value>(_ body: () throws(RawConnection.Failure) -> Value) throws(BrokerEnd) -> Value {
    do throws(RawConnection.Failure) {
      return try body()
    } catch {
      throw BrokerEnd(error, host: options.host, port: options.port)
    }
  }
}
