extension RandomAccessCollection where Index == Int {
  /// The first index from which on every element meets a condition; the end if none does.
  ///
  /// A binary search: the elements that meet the condition must all come after those that do not.
  @inlinable
  public func partitioningIndex(where meets: (Element) -> Bool) -> Int {
    var range = startIndex..<endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = meets(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}
