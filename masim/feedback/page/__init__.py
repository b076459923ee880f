"""The page on which people compare outcomes: what is asked (:mod:`desk`), how it looks (:mod:`render`), who may
see it (:mod:`server`). One self-contained page from the loopback; it works without scripts and without a network.
"""
