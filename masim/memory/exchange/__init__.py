"""Memories as files: JSON and GraphML, lossless, bounded when they are read."""
