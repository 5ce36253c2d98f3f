"""What `explain` finds and says, in parts."""
