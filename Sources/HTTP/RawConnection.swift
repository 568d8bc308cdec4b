import CCurl
import Glibc

/// A connection by TCP or TLS for a protocol other than HTTP, on libcurl.
///
/// ``open()`` blocks the calling thread, for at most ``longestOpening``. Afterwards the caller polls ``descriptor``.
package final class RawConnection {
  /// The PEM files of a TLS connection.
  package struct TLS: Hashable, Sendable {
    /// The trusted authorities; nil for the system's.
    package var caFile: String?
    /// The caller's certificate.
    package var certificateFile: String?
    /// The key of the certificate, without a passphrase.
    package var keyFile: String?

    /// Names the files.
    package init(caFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
      (self.caFile, self.certificateFile, self.keyFile) = (caFile, certificateFile, keyFile)
    }
  }

  /// The reason why there is no connection.
  package enum Failure: Error, Hashable, Sendable {
    /// The name has no address.
    case noAddress
    /// The connection was refused, with the error number.
    case refused(Int32)
    /// Nothing answered in time.
    case silent
    /// TLS failed, with libcurl's reason.
    case tls(String)
    /// The peer closed the connection.
    case closed
    /// Anything else, with libcurl's reason.
    case other(String)
  }

  /// The longest time that a lookup, a connect and a TLS handshake may take together.
  private static let longestOpening = Duration.seconds(30)

  private let handle: UnsafeMutableRawPointer
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// The socket for poll(2); negative before the connection is open.
  package private(set) var descriptor: Int32 = -1

  /// Prepares a connection; throws when out of memory.
  ///
  /// libcurl always verifies the certificate and the host name.
  package init(host: String, port: UInt16, tls: TLS?) throws(Failure) {
    guard curl_start() == CURLE_OK, let handle = curl_easy_init() else { throw .other("out of memory") }
    self.handle = handle
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
    curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    // The URL only names the peer: libcurl sends nothing of HTTP.
    curl_set_text(
      handle, CURLOPT_URL, "\(tls == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)")
    curl_set_long(handle, CURLOPT_CONNECT_ONLY, 1)
    curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(Self.longestOpening.components.seconds) * 1000)
    // A proxy of the environment is for HTTP.
    curl_set_text(handle, CURLOPT_PROXY, "")
    curl_set_long(handle, CURLOPT_SSL_ENABLE_ALPN, 0)
    if let file = tls?.caFile { curl_set_text(handle, CURLOPT_CAINFO, file) }
    if let file = tls?.certificateFile { curl_set_text(handle, CURLOPT_SSLCERT, file) }
    if let file = tls?.keyFile { curl_set_text(handle, CURLOPT_SSLKEY, file) }
    // Without this, OpenSSL asks a terminal for the passphrase of a key.
    curl_set_text(handle, CURLOPT_KEYPASSWD, "")
  }

  deinit {
    curl_easy_cleanup(handle)
    errorText.deallocate()
  }

  /// Looks the host up, connects, and shakes hands by TLS.
  package func open() throws(Failure) {
    let code = curl_easy_perform(handle)
    guard code == CURLE_OK else { throw failure(code) }
    var number: curl_socket_t = -1
    guard curl_get_socket(handle, &number) == CURLE_OK, number >= 0 else { throw .closed }
    descriptor = number
  }

  /// Reads what has arrived up to a count of bytes, without waiting; nil for nothing.
  ///
  /// TLS may hold more bytes than poll(2) knows of, so the caller reads until nil.
  package func receive(most: Int) throws(Failure) -> [UInt8]? {
    var code = CURLE_OK
    let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      code = curl_easy_recv(handle, buffer.baseAddress, buffer.count, &count)
      if code != CURLE_OK { count = 0 }
    }
    if code == CURLE_AGAIN { return nil }
    guard code == CURLE_OK, !bytes.isEmpty else { throw .closed }
    return bytes
  }

  /// Writes without waiting; returns the number of bytes that the system has taken.
  package func send(_ bytes: [UInt8]) throws(Failure) -> Int {
    var count = 0
    switch bytes.withUnsafeBytes({ curl_easy_send(handle, $0.baseAddress, $0.count, &count) }) {
    case CURLE_OK: return count
    case CURLE_AGAIN: return 0
    default: throw .closed
    }
  }

  private func failure(_ code: CURLcode) -> Failure {
    let detail = String(cString: errorText)
    let why = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST: return .noAddress
    case CURLE_OPERATION_TIMEDOUT: return .silent
    case CURLE_COULDNT_CONNECT:
      var number = 0
      guard curl_get_long(handle, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number != 0 else { return .other(why) }
      return .refused(Int32(truncatingIfNeeded: number))
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
      return .tls(why)
    default: return .other(why)
    }
  }
}
