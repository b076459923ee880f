"""The forgetting rules, one idea per file."""
