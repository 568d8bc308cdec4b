import CCurl
import Glibc

/// The options of libcurl that a request needs.
extension Exchange {
  func setOptions(of handle: UnsafeMutableRawPointer) {
    curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    // A cancelled exchange must not wait for a name server.
    curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
    curl_set_text(handle, CURLOPT_URL, request.url)
    curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Only TLS negotiates HTTP/2; without it, waiting for a shared connection means waiting for another response.
    let mayShare = request.url.prefix(6).lowercased() == "https:"
    curl_set_long(handle, CURLOPT_PIPEWAIT, mayShare ? 1 : 0)
    // Buffered bytes are lost when the exchange ends, so a slow exchange reads less at once.
    curl_set_long(handle, CURLOPT_BUFFERSIZE, bufferSize)
    if request.stream != nil || request.answerTime != nil { setKeepAlive(of: handle) }
    curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(request.stall.components.seconds) * 1000)
    curl_set_text(handle, CURLOPT_USERAGENT, "refreshd")
    // Not libcurl's own option, because libcurl accepts a compressed body that was cut as complete.
    if request.takesCompressed { lines = curl_slist_append(lines, "Accept-Encoding: gzip") }
    for line in request.headers { lines = curl_slist_append(lines, line) }
    curl_set_list(handle, CURLOPT_HTTPHEADER, lines)
    if !request.reusesConnection { curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1) }
    setMethod(of: handle)
    setLogin(of: handle)
    setCertificates(of: handle)
  }

  /// How many bytes are read at once; a stream sends little.
  private var bufferSize: Int {
    if request.stream != nil { return 16 << 10 }
    return request.maxRate == nil ? 512 << 10 : 32 << 10
  }

  /// Sends TCP keep-alive probes after a silent minute, and gives the peer up after another minute.
  private func setKeepAlive(of handle: UnsafeMutableRawPointer) {
    curl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
    curl_set_long(handle, CURLOPT_TCP_KEEPIDLE, 60)
    // The kernel sends nine probes.
    curl_set_long(handle, CURLOPT_TCP_KEEPINTVL, 7)
  }

  private func setMethod(of handle: UnsafeMutableRawPointer) {
    switch request.method {
    case .get: break
    case .head: curl_set_long(handle, CURLOPT_NOBODY, 1)
    case .put, .patch, .post:
      if let length = request.bodyLength {
        curl_set_long(handle, CURLOPT_UPLOAD, 1)
        curl_set_long(handle, CURLOPT_UPLOAD_BUFFERSIZE, 256 << 10)
        curl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, Int(length))
      }
      curl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
  }

  private func setLogin(of handle: UnsafeMutableRawPointer) {
    curl_set_long(handle, CURLOPT_HTTPAUTH, curl_auth_basic_or_digest)
    switch request.login {
    case .none: break
    case .netrc: curl_set_long(handle, CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
    case .password(let name, let password):
      curl_set_text(handle, CURLOPT_USERNAME, name)
      curl_set_text(handle, CURLOPT_PASSWORD, password)
    }
  }

  /// Sets the trusted certificates.
  ///
  /// The request's own file comes first, then the variables of curl(1) in its order, then libcurl's default, the system's.
  private func setCertificates(of handle: UnsafeMutableRawPointer) {
    if let file = request.caFile {
      curl_set_text(handle, CURLOPT_CAINFO, file)
      return
    }
    for (variable, option) in [
      ("CURL_CA_BUNDLE", CURLOPT_CAINFO), ("SSL_CERT_DIR", CURLOPT_CAPATH), ("SSL_CERT_FILE", CURLOPT_CAINFO),
    ] {
      guard let path = getenv(variable), path.pointee != 0 else { continue }
      curl_set_text(handle, option, path)
      if option == CURLOPT_CAINFO { return }
    }
  }
}

/// The C callbacks that connect libcurl to the handlers of an exchange.
extension Exchange {
  func setCallbacks(of handle: UnsafeMutableRawPointer) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    curl_set_pointer(handle, CURLOPT_PRIVATE, context)
    curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
    curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
    curl_set_pointer(handle, CURLOPT_READDATA, context)
    curl_set_pointer(handle, CURLOPT_SEEKDATA, context)
    curl_set_pointer(handle, CURLOPT_SOCKOPTDATA, context)
    curl_set_socket(handle) { context, socket, _ in
      Exchange.at(context)?.shrinkBuffer(of: socket)
      return CURL_SOCKOPT_OK
    }
    curl_set_bytes(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      // libcurl ends the exchange if a callback does not consume all bytes.
      return Exchange.at(context)?.receiveHeader(Substring(decoding: line, as: UTF8.self)) == true ? size * count : 0
    }
    curl_set_bytes(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      switch Exchange.at(context)?.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
      case .consumed: size * count
      case .paused: curl_write_pause
      case .ended, nil: 0
      }
    }
    curl_set_bytes(handle, CURLOPT_READFUNCTION) { bytes, size, count, context in
      let room = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
      return switch Exchange.at(context)?.supplyBody(room) {
      case .bytes(let count): count
      case .paused: curl_read_pause
      case .broken, nil: curl_read_abort
      }
    }
    curl_set_seek(handle) { context, offset, origin in
      origin == SEEK_SET && Exchange.at(context)?.rewindBody(to: Int64(offset)) == true
        ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> Exchange? {
    context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
  }
}
