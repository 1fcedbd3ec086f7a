"""The papers' repositories in the store, and git driven by us."""
