import CCrypto
import CMosquitto
import Glibc

/// A connection to an MQTT broker: a client of libmosquitto whose socket the caller polls.
///
/// The calling thread owns the object, because ``connect()`` blocks: libmosquitto resolves the name and connects in one
/// call. Each connection has a new object, so that no state is left from the last one.
///
/// **Only ``write()`` acknowledges messages.** libmosquitto 2.0.11 queues the PUBACK before it delivers the message
/// (2.1: after it). For a client with threads of its own (mosquitto_threaded_set) the library writes the queue only in
/// mosquitto_loop_write. So messages stay unacknowledged until the caller calls ``write()``. If the caller drops the
/// client instead, the broker sends the messages again.
final class Mosquitto {
  /// A packet from the broker.
  enum Arrival {
    /// The broker's answer to the connect, a reason code of MQTT 5 or a return code of MQTT 3.1.1.
    case answered(code: Int32, isSessionPresent: Bool, keepAlive: UInt16?)
    /// The broker's answer to ``subscribe(to:)``: the granted quality of service, or a reason code from 128 on.
    case subscribed(code: Int32)
    case message(BrokerMessage)
    /// The broker closes the connection with a reason code of MQTT 5.
    case dismissed(code: Int32)
  }

  /// Whether the library is initialized, once per process.
  private static let isLoaded = mosquitto_lib_init() == mosquitto_ok

  private let client: OpaquePointer
  private let options: BrokerOptions
  private let version: BrokerOptions.Version
  /// The start of libmosquitto's log line about a message, up to the DUP flag, which only the log has.
  private let publishLine: String
  private var isRepeated: Bool?
  private var arrivals: [Arrival] = []
  /// The library's first logged error since the connect.
  private var logged: String?

  /// Throws if there is no memory, or if the library refuses an option.
  init(_ options: BrokerOptions, version: BrokerOptions.Version) throws(BrokerEnd) {
    guard Self.isLoaded, let client = mosquitto_new(options.clientID, false, nil) else {
      throw .unreachable("cannot start libmosquitto: \(String(cString: strerror(errno)))")
    }
    self.client = client
    self.options = options
    self.version = version
    publishLine = "Client \(options.clientID) received PUBLISH (d"
    mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
    listen()
    try configure()
  }

  deinit { mosquitto_destroy(client) }

  // MARK: Connecting

  /// Resolves the host, connects and sends the CONNECT; blocks, for minutes if no host answers.
  func connect() throws(BrokerEnd) {
    var properties = BrokerProperties()
    if version == .v5 {
      properties.add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, options.sessionExpiry)
      properties.add(MQTT_PROP_MAXIMUM_PACKET_SIZE, options.maxPacket)
    }
    logged = nil
    let code = mosquitto_connect_bind_v5(
      client, options.host, Int32(options.port), Int32(options.keepAlive), nil, properties.list)
    let number = errno
    properties.free()
    guard code == mosquitto_ok else { throw failure(code, errno: number) }
  }

  /// Subscribes to a topic filter with quality of service 1.
  ///
  /// The broker sends retained messages for a new subscription; with MQTT 3.1.1 for every subscription.
  func subscribe(to filter: String) throws(BrokerEnd) {
    let onlyIfNew = Int32(MQTT_SUB_OPT_SEND_RETAIN_NEW.rawValue)
    try check(mosquitto_subscribe_v5(client, nil, filter, 1, version == .v5 ? onlyIfNew : 0, nil))
  }

  /// Unsubscribes from a topic filter.
  func unsubscribe(from filter: String) throws(BrokerEnd) {
    try check(mosquitto_unsubscribe(client, nil, filter))
  }

  /// Disconnects, and the broker keeps the session.
  ///
  /// No message may be unacknowledged.
  func leave() {
    guard socket >= 0, mosquitto_disconnect(client) == mosquitto_ok else { return }
    _ = mosquitto_loop_write(client, 1)
  }

  // MARK: Turning

  /// The descriptor to poll; negative without a connection.
  var socket: Int32 { mosquitto_socket(client) }

  /// Whether ``write()`` has bytes to send.
  var wantsToWrite: Bool { mosquitto_want_write(client) }

  /// Reads a packet, if one is available.
  func read() throws(BrokerEnd) { try check(mosquitto_loop_read(client, 1)) }

  /// Writes the queue, including the acknowledgements of messages that were read.
  func write() throws(BrokerEnd) { try check(mosquitto_loop_write(client, 1)) }

  /// Sends a ping if one is due, and ends the connection if the last ping has no answer.
  func keepAlive() throws(BrokerEnd) { try check(mosquitto_loop_misc(client)) }

  /// Removes and returns the packets since the last call.
  func drainArrivals() -> [Arrival] {
    defer { arrivals = [] }
    return arrivals
  }

  // MARK: Callbacks

  private func configure() throws(BrokerEnd) {
    try check(mosquitto_threaded_set(client, true))
    let number = version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
    try check(mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, number))
    try check(mosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, Int32(BrokerOptions.receiveMaximum)))
    try check(mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1))
    if let login = options.login {
      try check(mosquitto_username_pw_set(client, login.user, login.password))
    }
    if let tls = options.tls { try configure(tls) }
  }

  /// Sets the TLS files.
  ///
  /// The library always verifies the broker's certificate and host name.
  private func configure(_ tls: BrokerOptions.TLS) throws(BrokerEnd) {
    if tls.caFile == nil { try check(mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1)) }
    guard tls.caFile != nil || tls.certificateFile != nil else { return }
    // The library refuses a client certificate without authorities, so name the system's, which apply anyway.
    let folder = tls.caFile == nil ? String(cString: X509_get_default_cert_dir()) : nil
    for path in [tls.caFile, tls.certificateFile, tls.keyFile].compactMap({ $0 }) where access(path, R_OK) != 0 {
      throw .unreachable("cannot read \(path): \(String(cString: strerror(errno))); let the bridge's user read it")
    }
    try check(
      mosquitto_tls_set(client, tls.caFile, folder, tls.certificateFile, tls.keyFile, mosquitto_no_passphrase))
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> Mosquitto? {
    context.map { Unmanaged<Mosquitto>.fromOpaque($0).takeUnretainedValue() }
  }

  private func listen() {
    mosquitto_connect_v5_callback_set(client) { _, context, code, flags, properties in
      let keepAlive = BrokerProperties.number(MQTT_PROP_SERVER_KEEP_ALIVE, of: properties)
      Mosquitto.of(context)?.arrivals.append(
        .answered(code: code, isSessionPresent: flags & 1 == 1, keepAlive: keepAlive))
    }
    mosquitto_subscribe_v5_callback_set(client) { _, context, _, count, codes, _ in
      guard count > 0, let codes else { return }
      Mosquitto.of(context)?.arrivals.append(.subscribed(code: codes[0]))
    }
    mosquitto_disconnect_v5_callback_set(client) { _, context, code, _ in
      // Lower codes are the library's own errors, which its functions return too.
      guard code >= 0x80 else { return }
      Mosquitto.of(context)?.arrivals.append(.dismissed(code: code))
    }
    mosquitto_message_v5_callback_set(client) { _, context, message, properties in
      guard let message, let mosquitto = Mosquitto.of(context) else { return }
      mosquitto.arrivals.append(
        .message(
          BrokerMessage(
            message.pointee, properties, isRepeated: mosquitto.isRepeated ?? true,
            largest: mosquitto.options.largestPayload)))
      mosquitto.isRepeated = nil
    }
    mosquitto_log_callback_set(client) { _, context, level, line in
      guard let line, let mosquitto = Mosquitto.of(context) else { return }
      mosquitto.receiveLog(UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), isError: level == MOSQ_LOG_ERR)
    }
  }

  /// Evaluates a line of the library's log.
  ///
  /// A line may contain a topic, so no other part of a line is used.
  private func receiveLog(_ line: UnsafePointer<UInt8>, isError: Bool) {
    if isError {
      if logged == nil { logged = String(cString: line) }
    } else if publishLine.utf8.enumerated().allSatisfy({ line[$0] == $1 }) {
      isRepeated = line[publishLine.utf8.count] == UInt8(ascii: "1")
    }
  }

  // MARK: Errors

  private func check(_ code: Int32) throws(BrokerEnd) {
    let number = errno
    guard code != mosquitto_ok else { return }
    throw failure(code, errno: number)
  }

  private func failure(_ code: Int32, errno number: Int32) -> BrokerEnd {
    BrokerEnd(code, errno: number, logged: logged, host: options.host, port: options.port)
  }
}
