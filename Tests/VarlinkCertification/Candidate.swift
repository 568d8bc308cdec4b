import Varlink

/// Calls the methods of org.varlink.certification in order, each with what the one before answered.
struct Candidate {
  let client: Client

  func run() throws -> Bool {
    let started: Started = try call("Start", NoParameters())
    let bool: Bool1 = try call("Test01", started)
    let int: Int1 = try call("Test02", Identified(client: started, value: bool))
    let float: Float1 = try call("Test03", Identified(client: started, value: int))
    let string: String1 = try call("Test04", Identified(client: started, value: float))
    let basics: Basics = try call("Test05", Identified(client: started, value: string))
    let record: Struct1 = try call("Test06", Identified(client: started, value: basics))
    let map: Map1 = try call("Test07", Identified(client: started, value: record))
    let set: Set1 = try call("Test08", Identified(client: started, value: map))
    let mytype: MyType1 = try call("Test09", Identified(client: started, value: set))
    var replies: [String] = []
    try client.stream(
      Candidate.name("Test10"), Identified(client: started, value: mytype), as: String1.self
    ) { reply in
      replies.append(reply.string)
      return true
    }
    try client.send(
      Candidate.name("Test11"), Identified(client: started, value: Replies(replies: replies)))
    let ended: Ended = try call("End", started)
    return ended.allOK
  }

  private func call<Reply: Decodable>(_ method: String, _ parameters: some Encodable) throws -> Reply {
    try client.call(Candidate.name(method), parameters, as: Reply.self)
  }

  private static func name(_ method: String) -> String { "org.varlink.certification.\(method)" }
}
