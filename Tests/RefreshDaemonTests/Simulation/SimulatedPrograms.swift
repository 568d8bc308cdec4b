import JSON
import RefreshEngine

@testable import RefreshDaemon

// Programs of users that use the daemon's socket: some hold a lease, some perform refreshes, some request transfers.

extension SimulatedWorld {
  func beginClients() {
    for app in apps.map(\.id) {
      every(.minutes(10) ... .hours(3)) { world in world.lease(app) }
      every(.minutes(30) ... .hours(6)) { world in world.attach(app) }
      every(.minutes(20) ... .hours(5)) { world in world.askForTransfers(app) }
    }
    every(.minutes(30) ... .hours(4)) { world in world.steerTransfers() }
  }

  // MARK: - Leases

  /// A program holds the foreground for as long as its connection is open.
  func lease(_ app: AppID) {
    guard let client = clients.connect(to: socketPath) else { return }
    wishes += 1
    let number = wishes
    note("lease \(number) of \(app)")
    client.onReply = { [unowned self] _, error in if error == nil { book.clients.holds(number, app) } }
    client.onLost = { [unowned self] in book.clients.releases(number, app) }
    client.call("App.Signal", "{\"app\":\"\(app)\",\"signal\":\"foreground\",\"lease\":true}", more: true)
    after(dice.duration(.seconds(1) ... .minutes(30))) { [unowned self] in
      guard client.isOpen else { return }
      note("end of lease \(number)")
      client.hangUp()
      book.clients.releases(number, app)
    }
  }

  // MARK: - Attached processes

  /// A process of the app performs its refreshes for a while.
  private func attach(_ app: AppID) {
    guard let client = clients.connect(to: socketPath) else { return }
    wishes += 1
    let process = AttachedProcess(wishes, app, client)
    note("process \(process.number) attaches to \(app)")
    client.onReply = { [unowned self] reply, error in
      guard error == nil, let event = reply["event"] else { return client.hangUp() }
      hear(event, by: process)
      if fault == .tellsAllPerformers, event["kind"]?.string == "perform" { hear(event, by: process, asAnother: true) }
    }
    client.onLost = { [unowned self] in book.clients.left(process.number) }
    client.call("App.Attach", "{\"app\":\"\(app)\"}", more: true)
    after(dice.duration(.minutes(5) ... .hours(4))) { [unowned self] in leave(process) }
  }

  private func hear(_ event: JSONValue, by process: AttachedProcess, asAnother: Bool = false) {
    guard let refresh = event["refresh"]?.string else { return }
    switch event["kind"]?.string {
    case "perform":
      note("process \(process.number) performs \(refresh)")
      book.clients.performs(refresh, asAnother ? -process.number : process.number, event)
      guard let token = event["token"]?.string, !asAnother else { return }
      if let id = RefreshID(refresh) { book.questions.began(id, of: process.app) }
      let kind = isHealed ? 0 : dice.number(below: 10)
      let span = dice.duration(isHealed ? .zero ... .seconds(5) : .zero ... .seconds(18))
      switch kind {
      case 8: break
      case 9: after(span) { [unowned self] in leave(process) }
      default:
        let outcome = isHealed ? "new_data" : dice.pick(["new_data", "no_data", "failed"])
        after(span) { [unowned self] in complete(refresh, token, outcome, by: process) }
      }
      process.tokens[refresh] = token
    case "cancelled":
      book.clients.cancelled(refresh)
      guard let token = process.tokens[refresh], isHealed || dice.happens(50) else { return }
      after(dice.duration(.zero ... .seconds(1))) { [unowned self] in complete(refresh, token, "no_data", by: process) }
    default: break
    }
  }

  private func complete(_ refresh: String, _ token: String, _ outcome: String, by process: AttachedProcess) {
    guard process.client.isOpen, let client = clients.connect(to: socketPath) else { return }
    client.onReply = { [unowned self] _, error in
      note("process \(process.number) has completed \(refresh) with \(outcome): \(error ?? "accepted")")
      if error == nil { book.clients.completed(refresh, outcome) }
      client.hangUp()
    }
    let times = !isHealed && dice.happens(10) ? 2 : 1
    for _ in 0..<times { client.call("App.Complete", "{\"token\":\"\(token)\",\"outcome\":\"\(outcome)\"}") }
  }

  private func leave(_ process: AttachedProcess) {
    guard process.client.isOpen else { return }
    note("process \(process.number) leaves")
    process.client.hangUp()
    book.clients.left(process.number)
  }

  // MARK: - Transfers

  private func askForTransfers(_ app: AppID) {
    guard let client = clients.connect(to: socketPath) else { return }
    wishes += 1
    let session = dice.pick(["mail", "news"])
    let urls = (0...dice.number(below: 3)).map { "http://host\(dice.number(below: 2)).example/\(wishes)-\($0)" }
    let requests = urls.map { url in
      """
      {"url":"\(url)","path":"/srv/\(url.split(separator: "/").last ?? "")","session":"\(session)",\
      "network":"\(dice.pick(["none", "any"]))","priority":\(dice.number(below: 3))}
      """
    }
    note("\(app) asks for \(urls.count) transfers of \(session)")
    client.onReply = { [unowned self] reply, error in
      note("transfers \(error ?? "accepted")")
      if error == nil { book.clients.accepted(reply["ids"]?.elements.compactMap(\.integer) ?? []) }
      client.hangUp()
    }
    client.call("Transfers.Enqueue", "{\"app\":\"\(app)\",\"transfers\":[\(requests.joined(separator: ","))]}")
  }

  private func steerTransfers() {
    guard let id = book.clients.openTransfers.randomElement(using: &dice),
      let client = clients.connect(to: socketPath)
    else { return }
    let method = dice.pick(["Pause", "Resume", "Resume", "Cancel", "SetPriority"])
    note("\(method) of transfer \(id)")
    client.onReply = { _, _ in client.hangUp() }
    client.call("Transfers.\(method)", "{\"ids\":[\(id)]\(method == "SetPriority" ? ",\"priority\":5" : "")}")
    guard method == "Pause" else { return }
    after(dice.duration(.minutes(1) ... .hours(2))) { [unowned self] in resume([id]) }
  }

  /// Has transfers go on that are paused.
  func resume(_ ids: [TransferID]) {
    for id in ids {
      guard let client = clients.connect(to: socketPath) else { return }
      client.onReply = { _, _ in client.hangUp() }
      client.call("Transfers.Resume", "{\"ids\":[\(id)]}")
    }
  }
}

/// A process of an app that performs its refreshes.
private final class AttachedProcess {
  let number: Int
  let app: AppID
  let client: SimulatedClient
  /// The tokens of the refreshes that the daemon sent to it.
  var tokens: [String: String] = [:]

  init(_ number: Int, _ app: AppID, _ client: SimulatedClient) {
    (self.number, self.app, self.client) = (number, app, client)
  }
}
