"""YAML scenarios: schema, loading with line numbers, building the world specification, checks."""
