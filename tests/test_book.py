"""What every chapter has; and its exercises start unsolved, can be solved, and catch what is wrong."""

import base64
import builtins
import contextlib
import io
import json
import re
import subprocess
import symtable
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
import small
from matplotlib.image import imread

from streamkit.lab import reveal, workbook
from streamkit.lab.exercises import registry
from streamkit.lab.exercises.cells import name_of, stub_line
from streamkit.lab.exercises.judge import POINTERS
from streamkit.lab.exercises.record import Case
from streamkit.lab.exercises.state import before, state_of
from streamkit.lab.fill import chapter, chapters_in
from streamkit.lab.paths import BOOK, ROOT
from streamkit.lab.refresh import normalised, text

EXERCISES = registry.exercises()
CHAPTERS = chapters_in(BOOK)
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES.keys())
every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def none(name):
    """A learner who has written nothing."""
    return None


# The exercises.


@every_exercise
def test_what_reveal_prints_passes(exercise):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        reveal(exercise.name)
    state = state_of(exercise, said.getvalue(), none)
    assert state.sign == "✓", state.text
    assert name_of(said.getvalue()) == exercise.name and stub_line(said.getvalue()) is None


@every_exercise
def test_three_wrong_answers_are_caught_with_the_pointer_that_names_the_fault(exercise):
    assert len({wrong.what for wrong in exercise.wrong}) >= 3
    with ThreadPoolExecutor(2) as pool:  # each runs in a process of its own
        states = list(pool.map(lambda wrong: state_of(exercise, exercise.wrong_text(wrong), none), exercise.wrong))
    for wrong, state in zip(exercise.wrong, states, strict=True):
        assert (state.sign, state.pointer) == ("✗", wrong.pointer), f"{wrong.what}\n{state.text}"


@every_exercise
def test_every_hint_and_pointer_says_something(exercise):
    sentences = [*exercise.hints, *exercise.pointers.values(), exercise.why]
    assert len(exercise.hints) >= 2 and len(set(sentences)) == len(sentences)
    assert all(len(sentence.split()) >= 4 and sentence == sentence.strip() for sentence in sentences), sentences
    assert 4 <= len(exercise.title) <= 60 and re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", exercise.name)
    assert {wrong.pointer for wrong in exercise.wrong} <= set(exercise.pointers) | set(POINTERS)


@every_exercise
def test_its_cases_are_the_same_each_time_and_each_has_a_pointer(exercise):
    for part in [exercise.given, *before(exercise, none)]:  # what a worker has run before it
        exec(compile(part, "<given>", "exec"), {"__name__": "given"})
    first, second = ([repr(Case(*case)) for case in exercise.cases()] for _ in range(2))
    assert first == second and len(first) >= 3
    assert {Case(*case).pointer for case in exercise.cases()} <= set(exercise.pointers)


def test_an_exercise_builds_on_earlier_ones_only():
    names = list(EXERCISES)
    for name, exercise in EXERCISES.items():
        assert all(names.index(needed) < names.index(name) for needed in exercise.needs), name


# The chapters.


def test_each_chapter_has_a_number_and_exercises_of_its_own():
    numbers = [chapter(path) for path in CHAPTERS]
    assert len(set(numbers)) == len(numbers)
    assert all(path.name.startswith(f"{number:02}_") for path, number in zip(CHAPTERS, numbers, strict=True))
    assert all(registry.chapter(number) for number in numbers)


def read(path):
    return nbformat.read(path, as_version=4)


def code(path):
    """The code cells of a chapter, as nbval counts them."""
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def prose(path):
    """The text of a chapter."""
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def checks(path):
    """{number of a code cell: the exercise that it checks}"""
    found = {
        number: re.fullmatch(r'check\("([\w-]+)"\)', cell.source.strip()) for number, cell in enumerate(code(path))
    }
    return {number: match[1] for number, match in found.items() if match}


@every_chapter
def test_its_first_code_cell_is_that_of_all_chapters(path):
    first = code(path)[0]
    assert first.source.strip() == small.FIRST % chapter(path)
    assert first.metadata.tags == ["nbval-ignore-output"]


@every_chapter
def test_it_says_what_for_and_how_long_and_where_to_go_next(path):
    said, minutes = prose(path), read(path).metadata["streamkit"]["minutes"]
    assert said.startswith(f"# {chapter(path)} · ")
    assert "What you will be able to do" in said and f"{minutes} minutes" in said and 20 <= minutes <= 45
    headings = re.findall(r"^## (.*)$", said, re.M)
    assert [heading for heading in headings if heading in ("Recap", "Discuss", "Next")] == [
        "Recap",
        "Discuss",
        "Next",
    ], headings
    discuss = said.partition("## Discuss")[2].partition("## Next")[0]
    assert discuss.count("?") >= 2


@every_chapter
def test_it_has_its_exercises_as_stubs_each_followed_by_its_check(path):
    mine = {exercise.name: exercise for exercise in registry.chapter(chapter(path))}
    cells = code(path)
    assert Counter(filter(None, (name_of(cell.source) for cell in cells))) == Counter(list(mine))
    bound = set()
    for number, cell in enumerate(cells):
        if (name := name_of(cell.source)) is not None:
            assert stub_line(cell.source) and re.search(rf"\b{mine[name].defines}\b", cell.source), cell.source
            assert cell.metadata.tags == ["exercise", "nbval-ignore-output"], name
            assert cells[number + 1].source.strip() == f'check("{name}")', f"the cell below {name} must be its check"
            needed = names_of(mine[name].given)
            assert needed <= bound, f"{name}: the notebook does not bind {needed - bound} above the exercise"
        bound |= names_of(cell.source)


def names_of(source):
    """The names that a cell binds."""
    table = symtable.symtable(re.sub(r"(?m)^[%!].*$", "", source), "cell", "exec")
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }


SECTIONS = ["See it", "Predict", "Break it", "Build it", "Torture it", "Measure it", "Recap", "Discuss", "Next"]
FURTHER = "(going further)"


@every_chapter
def test_its_sections_have_the_headings_of_all_chapters_in_their_order(path):
    headings = re.findall(r"^## (.*)$", prose(path), re.M)
    assert [heading for heading in headings if heading.split(":")[0] in SECTIONS] == SECTIONS, headings
    assert headings[0] == SECTIONS[0] and all(FURTHER not in line or line.endswith(FURTHER) for line in headings)


def core(path):
    """The code cells of the core path: those that stand under no heading marked FURTHER."""
    level = 0  # of the marked heading that cells stand under; 0: none
    for cell in read(path).cells:
        if cell.cell_type == "code" and not level:
            yield cell
        elif cell.cell_type == "markdown":
            for marks, heading in re.findall(r"^(#+) (.*)$", cell.source, re.M):
                if not level or len(marks) <= level:
                    level = len(marks) if heading.endswith(FURTHER) else 0


def needed_by(source):
    """The names that a cell takes from cells before it."""
    tables, found = [symtable.symtable(re.sub(r"(?m)^[%!].*$", "", source), "cell", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        top = table.get_type() == "module"
        found |= {
            name.get_name()
            for name in table.get_symbols()
            if (name.is_referenced() if top else name.is_global() and not name.is_assigned())
        }
    return found - names_of(source) - set(dir(builtins)) - {"__name__"}


@every_chapter
def test_no_cell_of_its_core_path_needs_a_section_for_going_further(path):
    bound = set()
    for cell in core(path):
        assert needed_by(cell.source) <= bound, f"needs {needed_by(cell.source) - bound}:\n{cell.source}"
        bound |= names_of(cell.source)


@every_chapter
def test_every_code_cell_was_executed_and_every_check_passed(path):
    counts = [cell.execution_count for cell in code(path)]
    assert counts == list(range(1, len(counts) + 1)), "run: streamkit refresh"
    for number in checks(path):
        assert code(path)[number].outputs[0].text.startswith("✓"), code(path)[number].source


@every_chapter
def test_it_stores_a_chart_with_words_beside_it(path):
    cells = read(path).cells
    charts = [
        n
        for n, cell in enumerate(cells)
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))
    ]
    assert charts
    for number in charts:
        assert "markdown" in (cells[number - 1].cell_type, cells[number + 1].cell_type), cells[number].source


@every_chapter
def test_its_pictures_can_be_read_on_any_theme_and_where_it_is_not_trusted(path):
    """A picture has its own ground, and stored HTML holds no drawing: where it is not trusted that is loose words."""
    for data in (output.get("data", {}) for cell in code(path) for output in cell.outputs):
        if "image/png" in data:
            picture = imread(io.BytesIO(base64.b64decode(data["image/png"])))
            assert picture.shape[2] == 3 or picture[..., 3].min() == 1, (
                "a transparent ground: dark words on a dark page"
            )
        assert "<svg" not in data.get("text/html", "")


@every_chapter
def test_nothing_in_it_depends_on_the_machine_unless_it_says_so(path):
    for cell in code(path):
        tags = cell.metadata.get("tags", [])
        assert set(tags) <= {"exercise", "nbval-ignore-output"}, tags
        assert not re.search(r"(?m)^[^#\n]*;\s*$", cell.source), "a trailing ; fails under nbval"
        assert not re.search(r"\binteract\b|\bclear_output\b|\bOutput\(|NBVAL_", cell.source), cell.source
        said = json.dumps(cell.outputs)
        assert not re.search(r"object at 0x|0x[0-9a-f]{8,}|/(?:home|root|tmp|Users)/|[A-Z]:\\\\", said), cell.source
        assert all(output.output_type != "error" and output.get("name") != "stderr" for output in cell.outputs), (
            cell.source
        )


@every_chapter
def test_its_file_is_normalised(path):
    nbformat.validate(read(path))
    assert path.read_text("utf-8") == text(normalised(read(path))), "run: streamkit refresh"
    assert path.stat().st_size < 2_000_000


def test_the_notebooks_are_linted_and_formatted():
    if not CHAPTERS:
        pytest.skip("there are no chapters yet")
    for words in (["check"], ["format", "--check"]):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "-q", str(BOOK)], cwd=ROOT, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


# The book through nbval, twice in one run: filled with the answers, and as the stubs of an empty workbook.


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    """{(place, chapter, number of the code cell): None or the report of its failure}"""
    home = tmp_path_factory.mktemp("empty")
    workbook.make(BOOK, home / "workbook")
    report = home / "report.xml"
    words = [
        "--nbval",
        str(BOOK),
        str(home / "workbook"),
        "-n",
        "2",
        f"--junitxml={report}",
        "-p",
        "no:cacheprovider",
        "--color=no",
    ]
    done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True)
    assert report.exists(), done.stdout + done.stderr
    found = {}
    for case in xml.parse(report).iter("testcase"):
        place = "book" if f"{BOOK.name}." in case.get("classname") else "workbook"
        stem = next(path.stem for path in CHAPTERS if path.stem in case.get("classname"))
        broken = [part.text or part.get("message", "") for part in case if part.tag in ("failure", "error", "skipped")]
        found[place, stem, int((re.search(r"\d+$", case.get("name")) or [-1])[0])] = "\n".join(broken) or None
    return found


@every_chapter
def test_filled_with_the_answers_it_passes_strictly(path, ran):
    cells = {number: report for (place, stem, number), report in ran.items() if (place, stem) == ("book", path.stem)}
    assert set(cells) == set(range(len(code(path))))
    assert not any(cells.values()), "\n\n".join(filter(None, cells.values()))


@every_chapter
def test_its_stubs_run_from_top_to_bottom_and_report_not_started(path, ran):
    cells = {
        number: report for (place, stem, number), report in ran.items() if (place, stem) == ("workbook", path.stem)
    }
    assert set(cells) == set(range(len(code(path))))
    red = {number: report for number, report in cells.items() if report}
    assert set(red) == set(checks(path)), "\n\n".join(
        report for number, report in red.items() if number not in checks(path)
    )
    for number, name in checks(path).items():
        assert f"○ {name}: not started" in red[number] and "execution caused" not in red[number]
