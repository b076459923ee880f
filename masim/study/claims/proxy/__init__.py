"""The claim about a proxy reward: what becomes of an agent that is paid for successful calls."""
