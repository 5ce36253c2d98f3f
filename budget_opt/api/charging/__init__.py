"""What a release, a pilot or a look at the originals costs, charged before it happens."""
