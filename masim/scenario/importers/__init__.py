"""Turning foreign files into scenarios."""
