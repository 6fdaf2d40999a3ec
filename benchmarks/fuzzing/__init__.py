"""The rooms of fuzz.py: what it starts from, how it damages, what it feeds, and what must hold."""
