"""Real HTTP servers on free ports of the loopback, each started and ended by its fixture: nothing here uses, or is in
the way of, a server that the machine runs itself."""
