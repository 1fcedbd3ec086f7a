"""Sandboxes: an untrusted agent runs here, with its limits enforced and recorded.

``host`` and ``session`` need no Inspect; ``bwrap`` registers the provider with it.
"""
