"""How strong the links of a problem are in the data, seen or measured privately."""
