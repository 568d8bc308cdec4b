"""Real HTTP servers on free ports of the loopback, each started and stopped by its fixture. They do not disturb servers
that the machine runs itself."""
