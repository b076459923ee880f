"""Studies that join environments and learners."""
