/// Apps in order of an instant each, in chunks of bounded length.
///
/// Inserting or removing an app, or finding the last before an instant, touches one chunk only.
struct ChunkedArray {
  struct Entry: Comparable {
    var at: Instant
    var index: AppIndex

    static func < (left: Entry, right: Entry) -> Bool {
      left.at != right.at ? left.at < right.at : left.index < right.index
    }
  }

  /// A chunk of this length is halved, so that one change moves a few kilobytes at most.
  private static let longest = 512

  /// No chunk is empty, and each ends before the next begins.
  private var chunks: [[Entry]] = []

  var first: Entry? { chunks.first?.first }

  /// The last entry at or before an instant.
  func last(notAfter instant: Instant) -> Entry? {
    let last = Entry(at: instant, index: .max)
    guard let chunk = chunk(of: last) else { return nil }
    let end = chunks[chunk].partitioningIndex { $0 > last }
    return end > 0 ? chunks[chunk][end - 1] : nil
  }

  /// Moves an app from one instant to another; nil for none.
  mutating func move(_ index: AppIndex, from before: Instant?, to instant: Instant?) {
    guard before != instant else { return }
    if let before { remove(Entry(at: before, index: index)) }
    if let instant { insert(Entry(at: instant, index: index)) }
  }

  private mutating func insert(_ entry: Entry) {
    guard let chunk = chunk(of: entry) else {
      chunks.append([entry])
      return
    }
    chunks[chunk].insert(entry, at: chunks[chunk].partitioningIndex { $0 >= entry })
    guard chunks[chunk].count == Self.longest else { return }
    let rest = Array(chunks[chunk].suffix(Self.longest / 2))
    chunks[chunk].removeLast(rest.count)
    chunks.insert(rest, at: chunk + 1)
  }

  private mutating func remove(_ entry: Entry) {
    guard let chunk = chunk(of: entry) else { return }
    let position = chunks[chunk].partitioningIndex { $0 >= entry }
    guard position < chunks[chunk].count, chunks[chunk][position] == entry else { return }
    chunks[chunk].remove(at: position)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }

  /// The chunk that holds an entry, or would hold it; nil if there is no chunk.
  private func chunk(of entry: Entry) -> Int? {
    guard !chunks.isEmpty else { return nil }
    return max(0, chunks.partitioningIndex { chunk in chunk.first.map { $0 > entry } ?? false } - 1)
  }
}
