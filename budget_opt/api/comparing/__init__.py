"""`bo.compare`: splits, backgrounds and groupings of one problem beside each other."""
