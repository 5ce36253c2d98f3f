"""What is documented about a table as attributes: labels, metadata, types; never a value of the table."""
