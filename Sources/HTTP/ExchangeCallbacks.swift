import CCurl
import Glibc

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
      case .taken: size * count
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
