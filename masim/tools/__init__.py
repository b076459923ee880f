"""The wire between agents and the world: calls, answers, transports."""
