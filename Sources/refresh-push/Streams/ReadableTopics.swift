/// The search for the topics that an ntfy server lets be read, after it has refused all of them with one answer.
///
/// The server answers for a list of topics, so the search asks for halves, then for halves of what is refused. A server
/// limits requests (60 at once by default), so the search does too: what is left then counts as refused.
struct ReadableTopics: Hashable, Sendable {
  /// The most requests of a search: enough to tell each of 16 topics, or one among 100.
  static let mostRequests = 32

  private(set) var readable: [String] = []
  private var refused: [String] = []
  /// The lists to ask for, the longest first.
  private var lists: [[String]] = []
  private var requests = 0

  /// Starts a search among topics that were refused together.
  init(among topics: [String]) { split(topics) }

  /// The topics that are not to be read.
  var unreadable: [String] { refused + lists.flatMap(\.self) }

  /// The next list to ask for; nil at the end.
  var next: [String]? { requests < Self.mostRequests ? lists.first : nil }

  /// Takes the answer for the next list.
  mutating func answer(isReadable: Bool) {
    guard !lists.isEmpty else { return }
    requests += 1
    let list = lists.removeFirst()
    if isReadable { readable += list } else { split(list) }
  }

  private mutating func split(_ list: [String]) {
    let half = list.count / 2
    if half == 0 { refused += list } else { lists += [Array(list[..<half]), Array(list[half...])] }
  }
}
