"""The profile graph of each agent, with strategic forgetting."""
