"""Quantization graph by graph."""
