"""Bad input, said in one line."""

from ..preview import visible


class Problem(Exception):
    """What was expected, what came, where, and what to do. The command line prints it and exits with status 2.

    `text` may quote a file or a stranger's server: what a terminal would obey instead of show is escaped here, for all.
    """

    def __init__(self, text: str):
        super().__init__(visible(text))
