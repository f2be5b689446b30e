"""Derivations as text, HTML, JSON and LaTeX."""
