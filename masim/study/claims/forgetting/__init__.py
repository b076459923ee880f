"""Does forgetting help where the world changes, and does it cost anything where it does not?"""
