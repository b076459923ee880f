"""What people think of whole outcomes: judgements on pairs, a reward model fitted to them, and that reward in training.

Life cycle: :mod:`units` reads who can be compared from a stored run; a page (or a program) shows pairs and appends
each judgement to :mod:`labels`; :mod:`fit` turns judgements into a :class:`~masim.feedback.model.PreferenceModel`.
"""
