"""One file a section of the report: from an allocation to what is said of it, without any markup."""
