import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

extension BuiltIn {
  /// The order that the worker reads on standard input.
  func order(_ policy: TaskPolicy, remembered: Validator?) -> [UInt8] {
    do {
      return switch work {
      case .fetch(let file, let mostBytes): try Wire.FetchOrder(file, mostBytes: mostBytes, remembered).jsonBytes()
      case .download(let file, let task): try Wire.Request(file, task).jsonBytes()
      case .replicate(let replication): try Wire.ReplicationOrder(replication).jsonBytes()
      case .activate(let app): try Wire.ActivationOrder(app: app.name).jsonBytes()
      case .unit(let task):
        try Wire.UnitOrder(
          unit: task.name, manager: task.isOfMachine ? .system : .user, noDataExit: Int(policy.noDataExit),
          retryExit: Int(policy.retryExit)
        ).jsonBytes()
      }
    } catch {
      // Texts and numbers can always be written; the worker reports a missing order.
      return []
    }
  }
}

extension Wire.FetchOrder {
  fileprivate init(_ file: RemoteFile, mostBytes: Int64, _ known: Validator?) {
    self.init(
      url: file.url, to: file.target, headersFile: file.headersFile,
      credentialFile: file.credentialFile, netrc: file.usesNetrc, mostBytes: mostBytes,
      remembered: known.map {
        Remembered(url: $0.finalURL, etag: $0.etag, lastModified: $0.lastModified, digest: $0.digest)
      })
  }
}

extension Wire.Request {
  fileprivate init(_ file: RemoteFile, _ task: DownloadTask) {
    self.init(
      url: file.url, path: file.target, session: task.session, description: task.description,
      sha256: task.sha256, network: task.network.map(Wire.NetworkConstraint.init),
      priority: task.priority.map(Int64.init), maxRate: task.maxRate, headersFile: file.headersFile,
      credentialFile: file.credentialFile, netrc: file.usesNetrc ? true : nil, notify: task.notify)
  }
}

extension Wire.ReplicationOrder {
  fileprivate init(_ replication: Replication) {
    self.init(
      server: .init(replication.server), source: .init(replication.source), target: .init(replication.target),
      createTarget: replication.createsTarget, selector: replication.selector)
  }
}

extension Wire.ReplicationPeer {
  fileprivate init(_ peer: Replication.Endpoint) {
    self.init(url: peer.url.text, credentialFile: peer.credentialFile, headersFile: peer.headersFile)
  }
}
