"""The noise of a release, shift = (report - truth) mod r: given the originals its law is known in full."""
