"""Bad input, said in one line."""


class Problem(Exception):
    """What was expected, what came, where, and what to do. The command line prints it and exits with status 2."""
