"""Tables against declared domains: reading, encoding and writing, never learning a domain from data (R12)."""
