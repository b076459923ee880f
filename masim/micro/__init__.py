"""Micro-scenarios: small worlds on masim's clock and noise whose optimum and whose every advantage are known."""
