import RefreshEngine
import Testing

/// A process of the app serves its refreshes while it is attached.
@Suite struct AttachedTests {
  @Test func `An attached app does its refreshes itself, and its commands do them again when it is gone`() throws {
    try expect(
      """
      0s      configure todo background=1h tasks=pull,push
      30min   attach todo
      3605s   says 1-2 0 new-data three
      3605s   ends 1-2 0 exit=0
      90min   detach todo
      3h      end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        1s      end 1-1 todo new-data [pull new-data, push new-data]
        1h      perform 1-2 todo (interval)
        1h5s    end 1-2 todo new-data
        2h      start 1-3 todo (interval)
        2h1s    end 1-3 todo new-data [pull new-data, push new-data]
        3h      start 1-4 todo (interval)
        """)
  }

  @Test func `An app without a task waits for the app, and starts when a process of it attaches`() throws {
    try expect(
      """
      0s    configure todo background=1h tasks=none
      0s    why todo
      20min attach todo
      20min says 1-1 0 no-data
      20min ends 1-1 0 exit=0
      30min detach todo
      30min why todo
      2h    why todo
      2h    run todo
      2h    why todo
      2h    attach todo
      2h    end
      """,
      gives: """
        0s      why todo: held app
        20min   perform 1-1 todo (interval)
        20min   end 1-1 todo no-data
        30min   why todo: not due until 1h20min
        2h      why todo: held app
        2h      why todo: held app
        2h      perform 1-2 todo (manual)
        """)
  }

  @Test func `An attached process that goes away in the middle has failed, and the command tries again`() throws {
    try expect(
      """
      0s  configure todo background=1h
      0s  attach todo
      1h  detach todo
      1h  ends 1-2 0 lost
      61min end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        1s      end 1-1 todo new-data
        1h      perform 1-2 todo (interval)
        1h      end 1-2 todo failed lost client
        1h35s377ms791us start 1-3 todo (retry)
        1h36s377ms791us end 1-3 todo new-data
        """)
  }

  @Test func `An attached process that is late has overrun its deadline`() throws {
    try expect(
      """
      0s  configure todo background=1h
      1s  attach todo
      10s run todo
      46s ends 1-2 0 lost
      2min end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        1s      end 1-1 todo new-data
        10s     perform 1-2 todo (manual)
        35s     warn 1-2 todo
        40s     terminate 1-2 todo (deadline)
        45s     kill 1-2 todo
        46s     end 1-2 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `A forecast has the refreshes of an attached app too`() throws {
    try expect(
      """
      0s    configure todo background=1h tasks=none
      0s    attach todo
      1s    says 1-1 0 no-data
      1s    ends 1-1 0 exit=0
      2s    forecast 2h
      3s    detach todo
      2h    forecast 1h
      """,
      gives: """
        0s    perform 1-1 todo (interval)
        1s    end 1-1 todo no-data
        2s    forecast 1h-1h3min50s87ms625us: todo (interval)
        2s    forecast 2h-2h3min50s87ms625us: todo (interval)
        2h    forecast todo: held app
        """)
  }
}
