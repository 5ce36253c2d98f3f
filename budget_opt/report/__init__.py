"""One HTML file that explains a split: the question, the answer, what it is worth, and sliders to play with."""
