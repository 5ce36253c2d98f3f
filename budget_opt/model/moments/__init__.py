"""Cross-moments: how they are written, ruled, weighted and told apart."""
