"""The time line as a picture on its own white ground, with its legend: what a notebook shows that strips drawings out of HTML."""

import base64
import re
from collections.abc import Iterator

from .player_line import BANDS, NAMES, WIDTH, Drawing, mark
from .player_style import STYLE
from .player_words import safe, sentence
from .timeline import TimeLine

LEGEND = 24  # units of the drawing, below it
LETTER = 6  # the width of one, about


def picture(line: TimeLine, now: float | None) -> str:
    """An <img> of the drawing with its pointer at `now` (seconds), and the words on what is not drawn."""
    drawing = Drawing(line)
    svg, _, more = drawing.at(now).partition("</svg>")
    below = drawing.height + LEGEND
    svg = svg.replace(f'viewBox="0 0 {WIDTH} {drawing.height}"', f'viewBox="0 0 {WIDTH} {below}"', 1)
    head, _, rest = svg.partition(">")
    ground = f'<rect width="{WIDTH}" height="{below}" fill="white"/>'
    svg = f"{head}><style>{_look()}</style>{ground}{rest}{''.join(_legend(drawing.height + LEGEND // 2))}</svg>"
    said = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{safe(sentence(line))}" width="{WIDTH}" src="data:image/svg+xml;base64,{said}">{more}'


def _look() -> str:
    """The player's rules for its drawing, without the page's colours: a picture does not see them."""
    rules = "\n".join(re.findall(r"^\.sk-player svg .*}$", STYLE, re.M)).replace(".sk-player svg ", "")
    alone = re.sub(r"var\(--[\w-]+, ([^()]*)\)", r"\1", rules)
    return alone.replace("Canvas", "white").replace("currentColor", "black")


def _legend(y: int) -> Iterator[str]:
    """The marks in words, side by side."""
    x = 10.0
    marks = [(mark(shape, 0, 0), name) for shape, name in NAMES.items()]
    bands = [(f'<path class="{kind}" transform="translate(-10 -10)" d="{path}"/>', name) for kind, path, name in BANDS]
    for drawn, name in marks + bands:
        yield f'<g transform="translate({x + 8:.1f} {y})">{drawn}<text x="12" y="4">{name}</text></g>'
        x += 46 + LETTER * len(name)
