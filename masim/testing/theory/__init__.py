"""Theory as oracle: quantities of the simulator beside their closed forms."""
