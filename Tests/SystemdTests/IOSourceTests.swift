import Glibc
import Testing

@testable import Systemd

@Suite struct IOSourceTests {
  @Test func writtenBytesAreReadable() throws {
    let (loop, pipe) = (try EventLoop(), Pipe())
    var got: (IOEvents, String)?
    let source = try loop.watch(pipe.reading, for: .readable) { events in
      got = (events, pipe.read())
      loop.exit(0)
    }
    pipe.write("hello")
    #expect(try loop.turn() == 0)
    source.cancel()
    #expect(got?.0 == .readable)
    #expect(got?.1 == "hello")
  }

  @Test func aClosedWriterIsAHangupEvenWithoutEvents() throws {
    let (loop, pipe) = (try EventLoop(), Pipe())
    var got: IOEvents = []
    let source = try loop.watch(pipe.reading, for: []) { events in
      got = events
      loop.exit(0)
    }
    pipe.closeWriting()
    #expect(try loop.turn() == 0)
    source.cancel()
    #expect(got == .hangup)
  }

  @Test func aClosedReaderIsAnErrorForTheWriter() throws {
    let loop = try EventLoop()
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    var got: IOEvents = []
    let source = try loop.watch(ends[1], for: .writable) { events in
      got = events
      loop.exit(0)
    }
    #expect(try loop.turn() == 0)
    source.cancel()
    #expect(got == [.writable, .error])
  }

  @Test func eventsMayChangeWhileWatched() throws {
    let (loop, pipe) = (try EventLoop(), Pipe())
    var calls = 0
    let source = try loop.watch(pipe.reading, for: []) { _ in
      calls += 1
      loop.exit(0)
    }
    pipe.write("x")
    let later = try loop.timer {
      #expect(calls == 0)
      source.events = .readable
    }
    later.arm(at: EventLoop.bootMicroseconds() + 5_000, accuracy: 1)
    #expect(try loop.turn() == 0)
    #expect(calls == 1)
    #expect(source.events == .readable)
  }

  @Test func aHandlerMayCancelAndReleaseItsOwnSource() throws {
    let (loop, pipe) = (try EventLoop(), Pipe())
    var calls = 0
    var source: IOSource?
    // The source is level-triggered and never read, so only the cancel prevents another call.
    source = try loop.watch(pipe.reading, for: .readable) { _ in
      source?.cancel()
      source = nil
      calls += 1
    }
    pipe.write("x")
    let end = try loop.timer { loop.exit(0) }
    end.arm(at: EventLoop.bootMicroseconds() + 20_000, accuracy: 1)
    #expect(try loop.turn() == 0)
    #expect(calls == 1)
    #expect(source == nil)
  }

  @Test func aHandlerMayCancelAnotherSourceThatIsReadyInTheSameTurn() throws {
    let loop = try EventLoop()
    let pipes = [Pipe(), Pipe()]
    var sources: [IOSource] = []
    var calls = 0
    for pipe in pipes {
      pipe.write("x")
      sources.append(
        try loop.watch(pipe.reading, for: .readable) { _ in
          calls += 1
          sources = []
        })
    }
    let end = try loop.timer { loop.exit(0) }
    end.arm(at: EventLoop.bootMicroseconds() + 20_000, accuracy: 1)
    #expect(try loop.turn() == 0)
    #expect(calls == 1)
  }

  @Test func aThousandDescriptorsAreReadyAtOnce() throws {
    let loop = try EventLoop()
    let pipes = (0..<1_000).map { _ in Pipe() }
    var sources: [Int: IOSource] = [:]
    var calls: [Int: Int] = [:]
    for (number, pipe) in pipes.enumerated() {
      sources[number] = try loop.watch(pipe.reading, for: .readable) { _ in
        calls[number, default: 0] += 1
        _ = pipe.read()
        sources[number] = nil
        if sources.isEmpty { loop.exit(0) }
      }
    }
    for pipe in pipes { pipe.write("x") }
    #expect(try loop.turn() == 0)
    #expect(calls.count == 1_000)
    #expect(calls.values.allSatisfy { $0 == 1 })
  }

  @Test func twoWatchesOfOneDescriptorAreRefused() throws {
    let (loop, pipe) = (try EventLoop(), Pipe())
    let source = try loop.watch(pipe.reading, for: .readable) { _ in }
    #expect(throws: SystemdError(cannot: "watch descriptor \(pipe.reading)", code: EEXIST)) {
      _ = try loop.watch(pipe.reading, for: .readable) { _ in }
    }
    source.cancel()
  }

  @Test func aRegularFileIsRefused() throws {
    let loop = try EventLoop()
    let file = open("/proc/self/exe", O_RDONLY)
    defer { close(file) }
    #expect(throws: SystemdError(cannot: "watch descriptor \(file)", code: EPERM)) {
      _ = try loop.watch(file, for: .readable) { _ in }
    }
  }
}
