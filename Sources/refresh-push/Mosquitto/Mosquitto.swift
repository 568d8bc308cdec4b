import CCrypto
import CMosquitto
import Glibc

/// One connection to a broker of MQTT: libmosquitto's client, its socket in the caller's poll(2).
///
/// All of it belongs to the thread that calls it, because ``connect()`` blocks: libmosquitto looks up the name and
/// connects in one call. There is one of these for each connection, so that nothing of the last is left in the next.
///
/// **What was read is acknowledged by ``write()`` and by nothing else.** libmosquitto 2.0.11 queues the PUBACK even
/// before it hands the message over (2.1: after), but for a client with threads of its own (mosquitto_threaded_set) it
/// writes what is queued in mosquitto_loop_write only. So messages wait unacknowledged as long as nobody calls
/// ``write()``, and for ever when the client is dropped instead: the broker then sends them again.
final class Mosquitto {
  /// What came from the broker.
  enum Arrival {
    /// The broker's answer to the connect, a reason code of MQTT 5 or a return code of MQTT 3.1.1.
    case answered(code: Int32, isSessionPresent: Bool, keepAlive: UInt16?)
    /// The broker's answer to ``subscribe(to:)``: the quality of service that it grants, from 128 on why it does not.
    case subscribed(code: Int32)
    case message(BrokerMessage)
    /// The broker closes the connection, and says why: a reason code of MQTT 5.
    case dismissed(code: Int32)
  }

  /// Loads the library, once in a process.
  private static let isLoaded = mosquitto_lib_init() == mosquitto_ok

  private let client: OpaquePointer
  private let options: BrokerOptions
  private let version: BrokerOptions.Version
  /// How libmosquitto's log begins to say that it reads a message, up to the DUP flag, which it tells nowhere else.
  private let publishLine: String
  private var isRepeated: Bool?
  private var arrivals: [Arrival] = []
  /// What the library logged first as an error since the connect, without its prefix.
  private var complaint: String?

  /// Throws when there is no memory, or when the library does not take an option.
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

  /// Looks up the broker, connects to it and sends the CONNECT; blocks until then, minutes if nobody answers.
  func connect() throws(BrokerEnd) {
    var properties = BrokerProperties()
    if version == .v5 {
      properties.add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, options.sessionExpiry)
      properties.add(MQTT_PROP_MAXIMUM_PACKET_SIZE, options.maxPacket)
    }
    complaint = nil
    let code = mosquitto_connect_bind_v5(
      client, options.host, Int32(options.port), Int32(options.keepAlive), nil, properties.list)
    let number = errno
    properties.free()
    guard code == mosquitto_ok else { throw failure(code, errno: number) }
  }

  /// Asks for the messages of a topic filter with quality of service 1.
  ///
  /// Retained messages come if the subscription is new; each time, if the broker speaks MQTT 3.1.1.
  func subscribe(to filter: String) throws(BrokerEnd) {
    let onlyIfNew = Int32(MQTT_SUB_OPT_SEND_RETAIN_NEW.rawValue)
    try check(mosquitto_subscribe_v5(client, nil, filter, 1, version == .v5 ? onlyIfNew : 0, nil))
  }

  /// Asks for no more messages of a topic filter.
  func unsubscribe(from filter: String) throws(BrokerEnd) {
    try check(mosquitto_unsubscribe(client, nil, filter))
  }

  /// Takes leave of the broker, which keeps the session; nothing that was read may wait for its acknowledgement.
  func leave() {
    guard socket >= 0, mosquitto_disconnect(client) == mosquitto_ok else { return }
    _ = mosquitto_loop_write(client, 1)
  }

  // MARK: Turning

  /// The descriptor to poll, negative when there is no connection.
  var socket: Int32 { mosquitto_socket(client) }

  /// Whether something waits for ``write()``.
  var wantsToWrite: Bool { mosquitto_want_write(client) }

  /// Reads a packet, if there is one.
  func read() throws(BrokerEnd) { try check(mosquitto_loop_read(client, 1)) }

  /// Writes what is queued, the acknowledgements of what was read among it.
  func write() throws(BrokerEnd) { try check(mosquitto_loop_write(client, 1)) }

  /// Keeps the connection alive: sends a ping when one is due, and ends the connection when one was not answered.
  func keepAlive() throws(BrokerEnd) { try check(mosquitto_loop_misc(client)) }

  /// What came since this was last called.
  func takeArrivals() -> [Arrival] {
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

  /// The broker's certificate is always verified, and that it is the host's.
  private func configure(_ tls: BrokerOptions.TLS) throws(BrokerEnd) {
    if tls.caFile == nil { try check(mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1)) }
    guard tls.caFile != nil || tls.certificateFile != nil else { return }
    // A client's certificate is not taken without a place of authorities, so name the system's, which is used anyway.
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
      // Below are the library's own errors, which it returns as well.
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
      mosquitto.hear(UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), isError: level == MOSQ_LOG_ERR)
    }
  }

  /// Takes a line of the library's log.
  ///
  /// It may hold a topic: nothing of it goes anywhere but as far as is said here.
  private func hear(_ line: UnsafePointer<UInt8>, isError: Bool) {
    if isError {
      if complaint == nil { complaint = String(cString: line) }
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
    BrokerEnd(code, errno: number, complaint: complaint, host: options.host, port: options.port)
  }
}
