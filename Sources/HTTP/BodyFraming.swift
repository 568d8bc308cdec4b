/// The rules by which a response tells where its body ends (RFC 9112 section 6.3).
///
/// A caller that keeps the body needs this mark: without it, nobody can tell whether the body was cut.
extension ResponseHead {
  /// How many bytes the body has on the wire; nil if no length is declared.
  package var contentLength: Int64? {
    fields.contains { $0.name == "transfer-encoding" } ? nil : self["content-length"].flatMap(ContentRange.number)
  }

  /// Whether the body is chunked, so that its last chunk marks the end.
  package var isChunked: Bool { list("transfer-encoding").last?.lowercased() == "chunked" }

  /// Whether the head says where the body ends, or that there is none.
  var marksEnd: Bool { hasNoBody || isChunked || contentLength != nil }

  /// Whether the status allows no body.
  private var hasNoBody: Bool { status < 200 || status == 204 || status == 304 }

  /// The mistake that makes the end of the body uncertain; nil if there is none.
  var flaw: String? {
    // A chunked body has its own end, whatever the length says.
    guard !hasNoBody, !isChunked else { return nil }
    let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
    if lengths.contains(where: { ContentRange.number($0) == nil }) { return "its Content-Length is no number" }
    return Set(lengths).count > 1 ? "it declares two lengths" : nil
  }
}
