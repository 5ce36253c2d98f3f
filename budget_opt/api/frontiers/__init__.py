"""The best splits along an axis: the total, a moment's weight or floor, or the number of records."""
