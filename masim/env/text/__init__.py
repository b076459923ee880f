"""Text in, text out: what an agent knows in words, its tools as JSON schema, its calls as JSON, errors to read.

:data:`masim.env.text.version.TEXT_VERSION` is the version of every word here.
"""
