"""The wire between agents and vendors: the transports that carry an agent's calls."""
