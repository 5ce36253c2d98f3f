"""Sliders in a notebook: a split that follows while a person moves them."""
