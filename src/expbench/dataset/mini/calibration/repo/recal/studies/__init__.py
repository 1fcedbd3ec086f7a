"""Reusable parts of the paper's studies, one module each; imported by the scripts."""
