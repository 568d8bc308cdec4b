import RefreshEngine

// A transfer's parts as columns, in the order of ``TransferTable``'s lists.

extension TransferID {
  var value: Value { .integer(Int64(bitPattern: number)) }
}

extension TransferRequest {
  /// From `direction` on.
  var values: [Value] {
    [
      .text(direction.code), .text(url), .text(path), Value(description), Value(sha256), Value(length), Value(maxRate),
      Value(isPost), Value(isTus), Value(headersFile), Value(credentialFile), Value(usesNetrc), Value(notice),
    ]
  }
}

extension TransferState {
  /// From `priority` on.
  var values: [Value] {
    let stage: [Value] =
      switch self.stage {
      case .waiting(let from): [.text("waiting"), .null, .integer(from.microseconds), .null]
      case .transferring: [.text("transferring"), .null, .null, .null]
      case .stopping(let reason): [.text("stopping"), .text(reason.code), .null, .null]
      case .paused: [.text("paused"), .null, .null, .null]
      case .noSpace(let needed): [.text("no-space"), .null, .null, .integer(needed)]
      case .ended(let result, let at): [.text("ended"), .text(result.code), .integer(at.microseconds), .null]
      }
    return [.integer(Int64(policy.priority))] + stage
      + [Value(hasBegun), .integer(Int64(failures)), Value(isDelivered)]
  }
}

extension TransferProgress {
  /// From `attempts` on.
  var values: [Value] {
    [
      .integer(attempts), Value(message), .integer(bytes), Value(total), Value(sha256), Value(resume?.url),
      Value(resume?.etag), Value(resume?.lastModified), Value(resume?.date), Value(resume?.total),
      Value(resume?.durable), Value(resume?.boot), Value(resume?.tusURL), Value(resume?.partMark),
    ]
  }
}

extension Row {
  /// The request whose `direction` is in the column.
  func request(_ column: Int32) throws(StoreError) -> TransferRequest {
    var request = TransferRequest(try code(column), url: text(column + 1), path: text(column + 2))
    request.description = optionalText(column + 3)
    request.sha256 = optionalText(column + 4)
    request.length = try optional(column + 5, size)
    request.maxRate = try optional(column + 6, size)
    request.isPost = integer(column + 7) != 0
    request.isTus = integer(column + 8) != 0
    request.headersFile = optionalText(column + 9)
    request.credentialFile = optionalText(column + 10)
    request.usesNetrc = integer(column + 11) != 0
    request.notice = optionalText(column + 12)
    return request
  }

  /// Reads what the engine decided, whose `stage` is in the column.
  func read(_ state: inout TransferState, from column: Int32) throws(StoreError) {
    switch text(column) {
    case "waiting": state.stage = .waiting(from: try instant(column + 2))
    case "transferring": state.stage = .transferring
    case "stopping": state.stage = .stopping(try code(column + 1))
    case "paused": state.stage = .paused
    case "no-space": state.stage = .noSpace(needed: try size(column + 3))
    case "ended": state.stage = .ended(try code(column + 1), at: try instant(column + 2))
    default: throw unreadable(column)
    }
    state.hasBegun = integer(column + 4) != 0
    state.failures = try count(column + 5)
    state.isDelivered = integer(column + 6) != 0
  }

  /// How far a transfer has come, whose `attempts` are in the column.
  func progress(_ column: Int32) throws(StoreError) -> TransferProgress {
    var progress = TransferProgress()
    progress.attempts = try size(column)
    progress.message = optionalText(column + 1)
    progress.bytes = try size(column + 2)
    progress.total = try optional(column + 3, size)
    progress.sha256 = optionalText(column + 4)
    guard let boot = optionalText(column + 11) else { return progress }
    var resume = ResumeData(durable: try size(column + 10), boot: boot)
    resume.url = optionalText(column + 5)
    resume.etag = optionalText(column + 6)
    resume.lastModified = optionalText(column + 7)
    resume.date = optionalText(column + 8)
    resume.total = try optional(column + 9, size)
    resume.tusURL = optionalText(column + 12)
    resume.partMark = isNull(column + 13) ? nil : integer(column + 13)
    progress.resume = resume
    return progress
  }
}
