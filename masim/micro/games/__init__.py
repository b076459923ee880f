"""The games, one file each; :mod:`masim.micro.registry` names them."""
