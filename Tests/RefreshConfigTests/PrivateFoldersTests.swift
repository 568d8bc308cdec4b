import Testing

@testable import RefreshConfig

@Suite("A daemon with a private /tmp") struct PrivateFoldersTests {
  static let mounts: [(line: String, folder: String?)] = [
    ("36 35 8:1 /tmp/systemd-private-0a1b-refreshd.service-XyZ/tmp /tmp rw,noatime - ext4 /dev/sda1 rw", "/tmp"),
    ("36 35 8:1 /var/tmp/systemd-private-0a1b-refreshd.service-XyZ/tmp /var/tmp rw - ext4 /dev/sda1 rw", "/var/tmp"),
    ("36 35 0:31 /systemd-private-0a1b-refreshd.service-XyZ/tmp /tmp rw - tmpfs tmpfs rw", "/tmp"),
    ("36 35 0:31 / /tmp rw,nosuid - tmpfs tmpfs rw", nil),
    ("36 35 0:31 /systemd-private-0a1b/tmp /srv rw - tmpfs tmpfs rw", nil),
    ("36 35", nil),
  ]

  @Test("is recognized by its mounts", arguments: mounts)
  func mount(line: String, folder: String?) {
    #expect(Reader.privateFolder(inMount: line) == folder)
  }

  @Test("cannot watch a path there")
  func refused() throws {
    let scratch = try Scratch()
    let reader = Reader(uid: 0, isProgram: { _ in true }, privateFolders: ["/tmp"])
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]\nnew_data = \"changed:/tmp/inbox\"")
    #expect(
      scratch.problems(as: reader) == [
        #"apps.d/x.toml:4: task.new_data: cannot watch "/tmp/inbox": the daemon has a /tmp of its own; "#
          + "write a path elsewhere, or PrivateTmp=no with systemctl edit refreshd"
      ])
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]\nnew_data = \"changed:/tmpfiles\"")
    #expect(scratch.problems(as: reader) == [])
  }
}
