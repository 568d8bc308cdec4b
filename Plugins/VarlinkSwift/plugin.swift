import PackagePlugin

/// Makes Swift of the `.varlink` files of a target, before each build in which one of them has changed.
@main struct VarlinkSwift: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let files = target.sourceFiles(withSuffix: "varlink").map(\.url).sorted { $0.path < $1.path }
    let folder = context.pluginWorkDirectoryURL
    let names = ["Wire"] + files.map { $0.deletingPathExtension().lastPathComponent }
    return [
      .buildCommand(
        displayName: "Making the Swift of \(target.name)'s interfaces",
        executable: try context.tool(named: "varlink-swift").url,
        arguments: [target.name, folder.path] + files.map(\.path), inputFiles: files,
        outputFiles: names.map { folder.appending(path: "\($0).swift") })
    ]
  }
}
