"""Durable stores of profile graphs."""
