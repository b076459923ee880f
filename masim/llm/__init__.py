"""Language models that act: what they read, how they score or write a call, and where their weights come from.

Nothing here is imported before a card asks for it; torch and transformers are imported by :mod:`masim.llm.load` and
what it loads, never by the settings, the words or the token trie.
"""
