"""The least total under demands on retentions and on variance inflations."""
