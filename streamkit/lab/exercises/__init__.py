"""Exercises: what a piece must do, which cell holds it, and the verdict on it.

record.py    one exercise, as the author of a chapter writes it
registry.py  all of them, found under streamkit/lab/course/
cells.py     which cell holds which exercise, and how its last run went
judge.py     a piece over its cases: agreement, or the smallest counterexample
show.py      hostile text for screens
worker.py    the process in which a learner's text runs
limits.py    its time and its memory
run.py       a text in, a verdict out
report.py    a verdict in words
state.py     the state of a cell's text
pieces.py    the pieces that pass, kept beside the workbook
verbs.py     check, hint, reveal, use
"""
