"""What ends a box or makes it smaller; each rule is valid by itself (GLOBAL_SOLVER 3, 4)."""
