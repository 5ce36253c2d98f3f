"""`bo.design`: what to randomize together, with the best split (DESIGN 2.9)."""
