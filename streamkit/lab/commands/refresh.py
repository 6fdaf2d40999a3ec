"""streamkit refresh: run the book again and store its outputs."""

import argparse
import difflib
from pathlib import Path

from streamkit.lab.fill import chapters_in
from streamkit.lab.paths import BOOK
from streamkit.lab.problem import Problem


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "chapters", nargs="*", metavar="CHAPTER", help="a file, or how its name begins (default: all of the book)"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file would change")
    parser.add_argument(
        "--measure", action="store_true", help="run anew also the cells whose output depends on the machine"
    )


def run(args: argparse.Namespace) -> int:
    """Refresh the chosen chapters, one after the other, and say which changed."""
    from streamkit.lab import refresh
    from streamkit.lab.exercises.registry import answers

    changed = 0
    for path in chosen(args.chapters):
        old, new = path.read_text("utf-8"), refresh.text(refresh.refreshed(path, answers(), args.measure))
        changed += old != new
        print(f"{path.name}: {'unchanged' if old == new else 'would change' if args.check else 'changed'}", flush=True)
        if args.check:
            lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "stored", "run now", n=0, lineterm="")
            print("".join(f"  {line[:160]}\n" for line in list(lines)[:20]), end="")
        elif old != new:
            path.write_text(new, "utf-8", newline="\n")
    return 1 if args.check and changed else 0


def chosen(words: list[str], book: Path = BOOK) -> list[Path]:
    """The notebooks that the words of a command line name. Problem where a word names none."""
    found = []
    for word in words:
        path = Path(word)
        if path.suffix == ".ipynb":
            matches = [path] if path.is_file() else []
        else:
            matches = [chapter for chapter in chapters_in(book) if chapter.name.startswith(word)]
        if not matches:
            known = ", ".join(chapter.name for chapter in chapters_in(book))
            raise Problem(f"expected a chapter's file or how its name begins, got {word!r}. There are: {known}")
        found += matches
    return found or chapters_in(book)
