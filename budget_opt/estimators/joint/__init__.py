"""Joint tables of a release: several ways to estimate them, one interface, each with its own error."""
