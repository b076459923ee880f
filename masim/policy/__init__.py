"""Who acts: scripted agents and trained scorers."""
