"""Reward designs by name: what a training pays, beside the outcome that it is judged by."""
