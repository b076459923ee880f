"""One file per family of the fault taxonomy; each kind is a class."""
