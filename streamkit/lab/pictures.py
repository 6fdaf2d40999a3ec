"""The two pictures of the README, drawn from the captures: `python -m streamkit.lab.pictures` writes docs/player.png and docs/gap.png.

The player is drawn as it stands at one moment: its time line, and below it what its three panes say. Where the captures
have not changed, the files do not change either.
"""

import argparse
import io
import textwrap
from pathlib import Path

from ..preview import visible
from .captures import find_captures, load, read_capture
from .chart import Chart, axes, ecdf, styled
from .charts import timeline
from .damage import PUBLISHED
from .latency import gaps
from .paths import DATA, ROOT
from .player_still import PANES
from .player_tape import Tape
from .player_words import SIGNS, said

SCENE, MOMENT = "chat-scope-last", "first parse"
WIDE = 37  # characters on a line of a pane
NOT_YET = "First parse: the required field is closed. It is still not a call."


def panes(tape: Tape, step: int) -> list[list[str]]:
    """What the player's three panes say after `step` steps, as lines of text: the wire, the buffers, the screen."""
    came, builder = tape.steps[step - 1], tape.state(step)
    wire = [f"event {step} of {len(tape)}, at {came.at:.3f} s", "", *map(said, came.events)]
    buffers = []
    for call in builder.calls:
        buffers += [f"call {call.ordinal}: {call.name} {SIGNS[call.outcome]} {call.outcome}", call.text, "", NOT_YET]
    screen = [
        f"[{SIGNS[block.state]} {block.call.name}: {block.state}]" if block.kind == "call" else block.text.strip("\n")
        for block in builder.blocks
    ]
    return [wire, buffers, screen]


def board(tape: Tape, step: int) -> Chart:
    """The three panes side by side. Data: their lines."""
    data = panes(tape, step)
    with styled():
        figure, columns = axes(9.0, 1.5, columns=3)
        for ax, name, lines in zip(columns, PANES, data, strict=True):
            ax.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))
            ax.spines[:].set_visible(True)
            ax.set_title(name, fontsize=10)
            wrapped = [part for line in lines for part in textwrap.wrap(visible(line), WIDE) or [""]]
            ax.text(0.03, 0.93, "\n".join(wrapped), va="top", family="monospace", fontsize=7.5, linespacing=1.5)
    return Chart(figure, data, ". ".join(visible(" ".join(lines)) for lines in data))


def player() -> bytes:
    """PNG of the player at the first parse of a call: the time line above, the three panes below."""
    from PIL import Image

    capture = load(SCENE)
    tape = Tape(capture)
    step = next(moment.step for moment in tape.moments if moment.what == MOMENT)
    parts = [Image.open(io.BytesIO(chart.png())).convert("RGB") for chart in (timeline(capture), board(tape, step))]
    whole = Image.new("RGB", (max(part.width for part in parts), sum(part.height for part in parts)), "white")
    down = 0
    for part in parts:
        whole.paste(part, (0, down))
        down += part.height
    file = io.BytesIO()
    whole.quantize(64, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def gap() -> Chart:
    """For each API the share of the recorded calls whose gap is at most so long, as in chapter 4."""
    frame = gaps([read_capture(path) for path in find_captures(DATA / "latency")])
    return ecdf({api: part["gap_stable"] for api, part in frame.groupby("api")}, "gap, seconds", reference=PUBLISHED)


def main(folder: Path = ROOT / "docs") -> None:
    """Write both and say where."""
    folder.mkdir(exist_ok=True)
    for name, png in (("player.png", player()), ("gap.png", gap().png())):
        (folder / name).write_bytes(png)
        print(f"{folder.name}/{name}: {len(png):,} bytes")


if __name__ == "__main__":
    argparse.ArgumentParser(
        description="Draw the README's pictures, docs/player.png and docs/gap.png, anew."
    ).parse_args()
    main()
