"""The exercises of the course, one module a chapter: chapter1.py … chapter8.py. For those who write a chapter.

Write two files: `streamkit/lab/course/chapterN.py`, which says what each exercise must do, and
`notebooks/0N_name.ipynb`. Nothing else needs to know of them: the registry finds the one, pytest the other, and
tests/test_book.py proves both.

# An exercise

    from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition

    def cases():
        yield Case(given=["a", "b"], expected="ab", pointer="append", group="short streams")

    EXERCISES = [
        Exercise(
            name="join-fragments",                  # `# exercise: join-fragments`: small letters, digits, - or _
            title="Join fragments",                 # for the progress table
            defines="join",                         # the name the cell must define: a function or a class
            answer=definition("streamkit.lab.answers", "join"),
            given="import json\\nfrom streamkit.events import CallDelta, CallFinished\\n",
            cases=cases,
            run=lambda join, fragments: join(fragments),
            pointers={"append": "A fragment is appended as it came (section 2, “Only append”)."},
            hints=("…", "…"),
            wrong=(Wrong("strips fragments", "append", swap=(("fragments)", "map(str.strip, fragments))"),)), …),
            why="Whitespace inside a fragment may stand inside a string.",
        ),
    ]

*answer*. `reveal` prints the source of these definitions, and that text is what fills the cell in CI:
`definition(module, piece, helpers …)`, functions, classes or assignments at the top level of the module, printed in
the module's order. Where the piece is the package's own, name the package's module. Steps on the way, and pieces
smaller than the package's, stand in `streamkit/lab/answers.py`. The text runs by itself after `given`: what it uses
from its module must be among the names or in `given`.

*given*. Code that runs before the cell's text: exactly the imports (and small helpers) that the notebook gives at
that point. Tests prove that the notebook binds every one of these names in a cell above the exercise. A name that
only the notebook has is not there in a check: the learner is told so.
*needs*. Names of earlier exercises whose definitions this cell builds on. The learner's own are taken where they
pass.

*cases*. A function that yields `Case(given, expected, pointer, group)`, the same ones in the same order each time (no
clock, a seeded `random.Random`), small ones first: the ✗ shows the failing case whose shown input is shortest. All of
them together within half a second, on every machine; the piece is cut after 1.3 seconds of processor time. `expected`
is best made by the package's own definition, which tests hold against the conformance cases. `group` is a plural noun
and is counted in the ✓ line. Do not read anything outside the package but `data/`. Import the heavy (pandas,
matplotlib) nowhere here.
*run(piece, given)*. Drives the piece and returns something comparable. A case's input is anything, so a property is a
case too: let `run` try the piece over cuts, captures, events or two processes and return a verdict, as in
`Case(given=("stripped", text), expected="broken", …)` where `run` returns "broken" or "survived". The comparison is
strict (True is not 1, a list is not a tuple): let `run` turn into lists what may be either. What `given` holds is
handed over as a copy and compared afterwards: a piece that changes its input fails. The first forty cases run twice:
a piece that keeps something between runs fails. The working folder is a fresh one that is thrown away; prints are
swallowed. An exception in `run` counts as the piece's; one in `cases` as the kit's.
*show(given)*. The lines that show an input, short ones; by default one item of a list a line.
*diagnose(given, expected, got)*. A key of `pointers` that names the fault better than the case could, or None: `got`
may be an exception.

*tell(expected, got)*. Both as words, where the values are many facts of which few differ: only those that do.
*pointers*. Key to one sentence: which idea, in which section or cell of the notebook. It says what to look at, not
what to type.
*hints*. Two or more, each nearer to the answer; the last may be nearly code.
*wrong*. Three or more plausible wrong answers, each with the pointer that must catch it. `swap` replaces text in the
answer; `text` stands by itself.
*why*. One sentence, printed with ✓.

Try one without a notebook:

    python -m pytest tests/test_book.py -k join-fragments
    python -c 'from streamkit.lab import reveal; reveal("join-fragments")'

# A notebook

`notebooks/0N_words_with_underscores.ipynb`, format 4.5, with `{"streamkit": {"chapter": N, "minutes": 40}}` in its
metadata: nbval fills only notebooks with that mark.

- First a heading, `# N · Title`, and in the same or the next cell the question it answers, **What you will be able to
  do** (a list), and the minutes of the core path, as in the metadata: “**40 minutes**” (20 to 45).
- The first code cell, tagged `nbval-ignore-output`, the same in all chapters but for the number:

      try:
          from streamkit.lab import check, hint, reveal, start, use
      except ImportError:
          raise SystemExit("This kernel has no streamkit. Open the course with: python3 kit.py lab") from None
      start(N)

- Sections as `## ` headings, in this order: *See it*, *Predict*, *Break it*, *Build it*, *Torture it*, *Measure it*,
  then *Recap*, *Discuss* (two questions or more), *Next*. Parts of a section have `### `; a chapter may have further
  sections. What is for going further stands under a heading that ends in “(going further)”, and no other cell needs it;
  all else is the core path.
- An exercise cell begins with `# exercise: NAME`, is a stub with `...` where the learner's code goes, and is tagged
  `exercise` and `nbval-ignore-output`. It must run as it stands. The next code cell is `check("NAME")`, alone in its
  cell. Everything after it takes the piece by `Piece = use("NAME")`, so that an unsolved exercise stops nobody. `use`
  hands out the learner's piece if it passes and the package's if not. A piece of an earlier chapter is had the same
  way.
- Each chart has a sentence in a text cell beside it, and at least one cell of the chapter stores a PNG. End a plot
  with `plt.show()`; no trailing `;` anywhere.
- Outputs are compared strictly, text for text, on every system: print no times, paths, addresses (`<object at 0x…>`),
  set orders, versions, or texts of the standard library's exceptions. A cell whose text depends on the machine is
  tagged `nbval-ignore-output` (its stored output stays as it is until its code changes: `streamkit refresh --measure`
  runs it anew). The sanitise file, `streamkit/lab/nbval_sanitize.cfg`, is for the line of `use`,
  for pictures inside HTML, and for nothing else.
- Allowed tags: `exercise`, `nbval-ignore-output`. No `nbval-skip`, no `raises-exception`: catch what a cell shows,
  and print a sentence of your own.
- Widgets: no `interact`, no `Output`, no `clear_output`. Their state is not stored; give them a static form
  (`_repr_mimebundle_`).
- ruff lints and formats notebooks: `ruff check notebooks; ruff format notebooks`.

The notebook holds the stubs; its outputs are those of the finished book. After every edit:

    streamkit refresh 0N              runs the chapter, filled, and stores its outputs, normalised
    pytest --nbval notebooks/0N_*     what CI runs
    python3 kit.py lab                what a learner sees; `streamkit fill 0N --to /somewhere` writes a solved copy
"""

import os

# Chapters of one's own: a folder of chapter modules in place of these.
if _folder := os.environ.get("STREAMKIT_COURSE"):
    __path__ = [_folder]
