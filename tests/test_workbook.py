"""The workbook: made from the book, cleared, never overwritten; and what a learner sees who opens the book instead."""

import json
import re
import subprocess
import sys

import nbformat
import pytest
import small

from streamkit.__main__ import main
from streamkit.lab import opening, workbook
from streamkit.lab.commands import lab
from streamkit.lab.exercises.cells import SESSION
from streamkit.lab.exercises.pieces import JUDGED, RECORD
from streamkit.lab.fill import fill, written
from streamkit.lab.problem import Problem

pytest_plugins = ["small.fixtures"]


@pytest.fixture
def places(tmp_path):
    """A book that looks as if it had been run, and the place for a workbook."""
    book = small.write_book(tmp_path)
    for path in book.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.execution_count, cell.outputs = 1, [nbformat.v4.new_output("stream", text="✓ the answer")]
        notebook.metadata["widgets"] = {"state": {}}
        nbformat.write(notebook, path)
    (book / "GUIDE.md").write_text("read me")
    return book, tmp_path / "workbook"


def edit(book, name, old, new):
    """A newer edition of a chapter."""
    path = book / name
    assert old in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def test_it_is_made_with_the_outputs_cleared(places):
    made = workbook.make(*places)
    assert made == (["01_join.ipynb", "02_count.ipynb"], [])
    for path in places[1].glob("*.ipynb"):
        text = path.read_text("utf-8")
        assert "✓ the answer" not in text and "widgets" not in text
        copy, book = nbformat.read(path, as_version=4), nbformat.read(places[0] / path.name, as_version=4)
        nbformat.validate(copy)
        assert [(c.id, c.source) for c in copy.cells] == [(c.id, c.source) for c in book.cells]
        assert all(c.execution_count is None for c in copy.cells if c.cell_type == "code")
    assert (places[1] / "GUIDE.md").read_text() == "read me"


def test_nothing_of_the_learners_is_ever_overwritten(places):
    workbook.make(*places)
    (places[1] / "01_join.ipynb").write_text("mine, even where it is no notebook")
    (places[1] / "GUIDE.md").write_text("mine")
    (places[1] / "02_count.ipynb").unlink()
    edit(places[0], "01_join.ipynb", "to do: join", "to do: join well")
    made = workbook.make(*places)
    assert made == (["02_count.ipynb"], ["01_join.ipynb"])
    assert (places[1] / "01_join.ipynb").read_text() == "mine, even where it is no notebook"
    assert (places[1] / "GUIDE.md").read_text() == "mine"


def test_a_book_that_was_only_run_again_is_no_newer_book(places):
    workbook.make(*places)
    edit(places[0], "01_join.ipynb", "✓ the answer", "✓ another answer")
    assert workbook.make(*places) == ([], [])


def test_a_newer_chapter_is_taken_with_the_learners_cells_and_the_old_file_stays(places):
    workbook.make(*places)
    mine = "# exercise: join-fragments\ndef join(f):\n    return 'mine'"
    path = places[1] / "01_join.ipynb"
    nbformat.write(fill(nbformat.read(path, as_version=4), {"join-fragments": mine}), path)
    old = path.read_bytes()
    for number, name in enumerate(["older/01_join.ipynb", "older/01_join-2.ipynb"]):
        edit(places[0], "01_join.ipynb", "to do: " + "re-" * number, "to do: re-" + "re-" * number)
        older = workbook.make(*places).older
        assert workbook.renew(older, *places) == [("01_join.ipynb", name)]
        assert "to do: re-" in path.read_text("utf-8") and written(path)["join-fragments"] == mine
        assert workbook.make(*places) == ([], [])
    assert (places[1] / "older" / "01_join.ipynb").read_bytes() == old


def test_a_learners_broken_file_is_not_renewed_away(places):
    workbook.make(*places)
    (places[1] / "01_join.ipynb").write_text("no notebook")
    with pytest.raises(Problem, match="expected a notebook"):
        workbook.renew(["01_join.ipynb"], *places)
    assert (places[1] / "01_join.ipynb").read_text() == "no notebook"


def test_two_that_make_it_at_once_do_not_overwrite(places):
    workbook.make(*places)
    path = places[1] / "01_join.ipynb"
    path.write_text("mine")
    workbook._create(path, "theirs")
    assert path.read_text() == "mine"


def test_a_place_that_cannot_be_written_is_said_in_one_line(places):
    places[1].write_text("a file in the way")
    with pytest.raises(Problem, match="the workbook cannot be written") as error:
        workbook.make(*places)
    assert "\n" not in str(error.value)


def test_a_damaged_record_is_made_anew(places):
    workbook.make(*places)
    for text in ["{", "[]", ""]:
        (places[1] / RECORD).write_text(text)
        assert workbook.make(*places) == ([], [])
        assert set(json.loads((places[1] / RECORD).read_text())) == {"01_join.ipynb", "02_count.ipynb"}


# The first cell.


@pytest.fixture
def opened(small_course, monkeypatch):
    """start(), as the first cell of a notebook in a folder; what it displayed."""

    def open_in(folder, number=1, **options):
        shown = []
        monkeypatch.setattr("streamkit.lab.exercises.verbs.HERE", folder)
        monkeypatch.setattr("IPython.display.display", lambda *objects: shown.extend(o.data for o in objects))
        opening.start(number, **options)
        return shown

    return open_in


def test_opened_in_the_book_it_makes_the_workbook_and_links_to_it(places, opened, capsys):
    shown = opened(places[0], 2)
    assert "(../workbook/02_count.ipynb)" in shown[0] and capsys.readouterr().out == ""
    assert (places[1] / "01_join.ipynb").exists()
    SESSION.last.clear()


def test_opened_in_the_workbook_it_says_that_it_is_ready(places, opened, capsys):
    workbook.make(*places)
    assert opened(places[1]) == [] and capsys.readouterr().out.startswith("streamkit is ready.")


def test_opened_in_an_older_workbook_it_says_so_and_takes_the_newer_one_on_request(places, opened, capsys):
    workbook.make(*places)
    path = places[1] / "01_join.ipynb"
    assert opened(places[1]) == [] and "newer" not in capsys.readouterr().out
    edit(places[0], "01_join.ipynb", "to do: join", "to do: join well")
    old = path.read_bytes()
    opened(places[1], 2)
    assert "newer" not in capsys.readouterr().out
    opened(places[1])
    assert "To take the newer one: start(1, renew=True)" in capsys.readouterr().out and path.read_bytes() == old
    opened(places[1], renew=True)
    assert "yours lies in older/01_join.ipynb" in capsys.readouterr().out
    assert "join well" in path.read_text("utf-8") and (places[1] / "older" / "01_join.ipynb").read_bytes() == old
    edit(places[0], "01_join.ipynb", "join well", "join")
    path.write_text("no notebook")
    opened(places[1], renew=True)
    assert "was not taken" in capsys.readouterr().out and path.read_text() == "no notebook"


def test_run_by_a_test_it_makes_nothing(places, opened, capsys, monkeypatch):
    monkeypatch.setenv(JUDGED, "1")
    assert opened(places[0]) == [] and not places[1].exists()


def test_a_book_in_a_place_that_cannot_be_written_still_opens(places, opened, capsys):
    places[1].write_text("a file in the way")
    assert opened(places[0]) == []
    assert "Checks work here and nothing is kept" in capsys.readouterr().out


def test_the_first_cell_can_run_again():
    """No module of the package may bear the name of a verb: it would take the verb's place on the second import."""
    code = "from streamkit.lab import check, hint, reveal, start, use\nassert all(map(callable, (check, hint, reveal, start, use)))\n"
    subprocess.run([sys.executable, "-c", code + "start(1)\n" + code], check=True, stdout=subprocess.DEVNULL)


def test_a_chapter_starts_without_a_grammar_of_uris():
    code = (
        "import sys\nfrom streamkit.lab import start\nstart(1)\nimport streamkit.finalise\nprint('lark' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.endswith("False\n"), ran.stderr


def test_without_the_package_the_first_cell_is_one_sentence(tmp_path):
    code = (
        f"from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell().run_cell({small.FIRST % 1!r})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['streamkit'] = None\n{code}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    said = re.sub(r"\x1b\[[\d;]*m", "", ran.stdout)
    assert "SystemExit: This kernel has no streamkit. Open the course with: python3 kit.py lab" in said
    assert "Traceback" not in ran.stdout and "ImportError" not in ran.stdout


# The command.


def test_it_opens_the_first_chapter_that_is_not_finished(small_course, places, monkeypatch):
    monkeypatch.setattr(lab, "WORKBOOK", places[1])
    workbook.make(*places)
    assert lab.first_open().name == "01_join.ipynb"
    (places[1] / "pieces").mkdir()
    for name in ["join-fragments", "keyed"]:
        (places[1] / "pieces" / f"{name}.py").write_text("x")
    assert lab.first_open().name == "02_count.ipynb"
    (places[1] / "pieces" / "count.py").write_text("x")
    assert lab.first_open().name == "01_join.ipynb"


def test_options_go_on_to_jupyterlab_and_win(small_course, places, monkeypatch):
    seen = []
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", seen.append)
    for name, value in [("BOOK", places[0]), ("WORKBOOK", places[1]), ("ROOT", places[0].parent)]:
        monkeypatch.setattr(lab, name, value)
    monkeypatch.setattr(workbook.make, "__defaults__", places)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/mine")
    assert main(["lab", "--no-browser", "--port=9000", "--LabApp.default_url=/lab"]) == 0
    assert seen[0][-3:] == ["--no-browser", "--port=9000", "--LabApp.default_url=/lab"]
    assert f"--ServerApp.root_dir={places[0].parent}" in seen[0] and sum("default_url" in o for o in seen[0]) == 1
    assert (places[1] / "01_join.ipynb").exists()
    with pytest.raises(SystemExit) as error:
        main(["progress", "--no-such-option"])
    assert error.value.code == 2


def test_a_newer_book_is_said_and_taken_on_request(tmp_path):
    small.write_book(tmp_path)
    code = "-c", "import sys; from streamkit.lab.commands.lab import prepare; prepare(sys.argv[1:] == ['renew'])"
    words = [sys.executable, *code]
    env = small.environment(tmp_path)

    def prepare(*more):
        return subprocess.run([*words, *more], env=env, cwd=tmp_path, capture_output=True, text=True).stdout

    assert "copied 2 chapters" in prepare()
    assert prepare() == ""
    edit(tmp_path / "notebooks", "01_join.ipynb", "to do: join", "to do: join well")
    assert (
        "newer editions of 01_join.ipynb. Yours are left as they are. To take the newer ones: python3 kit.py lab --renew"
        in prepare()
    )
    assert "01_join.ipynb is the newer one now, with your exercise cells; yours lies in older/01_join.ipynb" in prepare(
        "renew"
    )


def test_without_a_book_the_command_says_what_to_do(tmp_path):
    done = small.command(tmp_path, "streamkit", "lab")
    assert (
        done.returncode == 2 and "expected the book's notebooks" in done.stderr and len(done.stderr.splitlines()) == 1
    )
