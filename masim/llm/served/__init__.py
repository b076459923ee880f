"""Language models behind an OpenAI-compatible server: chat completions by plain HTTP, by the standard library alone."""
