"""A release that survives its process: key, journal and waiting rows, until the release is whole.

A folder of the user's own state directory, found by the target's path, holds the *key* of a keyed release
and the *journal*; the *rows* that are done, randomized, wait in a hidden folder beside the target. The key
is never beside the release: who has both can undo it.
"""
