"""Claims about learning, tried on micro-scenarios, where success is known exactly and not estimated."""
