"""Starting quickly."""

import sys


def quick() -> None:
    """Spare this process a grammar of URIs, before jsonschema is imported.

    Where Jupyter is installed jsonschema loads rfc3987_syntax, to check a format that nothing here asserts: 1.3 of its 1.4
    seconds. For programs of our own only: a library has no business in the modules of others.
    """
    sys.modules.setdefault("rfc3987_syntax", None)
