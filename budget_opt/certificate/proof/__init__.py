"""The proof of a weighted sum's bound: a tree of boxes that anyone can walk again; imports no solver."""
