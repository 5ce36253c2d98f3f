"""The parts of `least_total`: what is wanted, the split that meets it, why none does, and how it is told."""
