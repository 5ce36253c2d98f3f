"""Declared domains from the codebooks of other tools, never from values."""
