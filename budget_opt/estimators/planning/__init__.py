"""What a moment will be worth at n records, before any release (DESIGN 2.3)."""
