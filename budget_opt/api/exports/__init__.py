"""An allocation for other anonymizers: one file a kind, and one table of the kinds."""
