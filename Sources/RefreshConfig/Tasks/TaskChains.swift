import RefreshEngine

/// The tasks of a file together: their names in force, and the order by `after`.
extension [TaskSection] {
  /// The names in the order of the file.
  ///
  /// A task without a name gets its standard name, with a number if that is taken.
  private var names: [String] {
    var taken = Set(compactMap(\.name))
    return map { task in
      if let name = task.name { return name }
      var name = task.standardName
      var number = 2
      while !taken.insert(name).inserted {
        name = "\(task.standardName)-\(number)"
        number += 1
      }
      return name
    }
  }

  /// The tasks in the form of the engine.
  func policies(of owner: Owner) -> [TaskPolicy] {
    let names = names
    let positions = Dictionary(zip(names, names.indices)) { first, _ in first }
    return zip(self, names).map { task, name in
      var newData = task.newData
      if case .changed(let path) = newData { newData = .changed(path: owner.path(of: path)) }
      var policy = TaskPolicy(
        name: name, newData: newData, noDataExit: task.noDataExit, retryExit: task.retryExit)
      policy.after = task.after.compactMap { positions[$0] }.sorted()
      return policy
    }
  }

  /// Refuses unknown and repeated names in `after`, the task's own name, and tasks that wait for each other.
  ///
  /// - Parameter sections: the tables of the tasks, in the same order.
  func refuseWrongChains(in sections: inout [Section]) {
    let names = names
    for (position, task) in enumerated() {
      for (index, name) in task.after.enumerated() {
        if name == names[position] {
          sections[position].refuse(
            "after", "cannot start \(quoted(name)) after itself", remedy: "write the names of other tasks")
        } else if !names.contains(name) {
          let others = names.filter { $0 != names[position] }
          sections[position].refuse(
            "after", "cannot start after \(quoted(name)): no task of this file has that name",
            remedy: others.isEmpty ? "remove the key" : "write one of \(others.map(quoted).joined(separator: ", "))")
        } else if task.after[..<index].contains(name) {
          sections[position].refuse(
            "after", "cannot start after \(quoted(name)) twice", remedy: "write the name once")
        }
      }
    }
    guard sections.allSatisfy({ $0.problems.isEmpty }), let cycle = cycle(among: names) else { return }
    let path = (cycle + cycle.prefix(1)).map { quoted(names[$0]) }.joined(separator: " after ")
    sections[cycle[0]].refuse(
      "after", "cannot start any of these first: \(path)", remedy: "take one of the names out of after")
  }

  /// A cycle: tasks that each wait for the next, and the last for the first; nil if there is none.
  private func cycle(among names: [String]) -> [Int]? {
    var left = Set(indices)
    while let free = left.first(where: { task in
      self[task].after.allSatisfy { name in !left.contains { names[$0] == name } }
    }) {
      left.remove(free)
    }
    // Each remaining task waits for another remaining task, so following them leads into a cycle.
    guard var task = left.min() else { return nil }
    var path: [Int] = []
    while !path.contains(task) {
      path.append(task)
      guard let next = left.filter({ self[task].after.contains(names[$0]) }).min() else { return nil }
      task = next
    }
    return [Int](path.drop { $0 != task })
  }
}
