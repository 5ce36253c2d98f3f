"""`bo.check`: what a problem asks, needs and risks, before any budget is spent."""
