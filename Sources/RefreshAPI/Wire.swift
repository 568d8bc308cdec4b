/// The types of the interface files, by the names that they have there: `type Phase` is ``Wire/Phase``.
///
/// They are the wire's own (DESIGN section 3: memory, disk and wire are three types), and the daemon maps them. Property
/// names are those of the files in Swift's spelling; a name that ends in `Microseconds` is `…_us` on the wire. Points in
/// time are microseconds of the wall clock since 1970, `CLOCK_REALTIME`. What is nil is left out on the wire.
public enum Wire {}
