"""The best split on a grid of epsilons that people can say aloud."""
