"""The player's look: the colours of the text and the page around it, one accent, nothing told by colour alone."""

ACCENT = "var(--jp-brand-color1, #1976d2)"

STYLE = f"""<style>
.sk-player {{ font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); color: inherit; }}
.sk-player .sk-title {{ font-size: 14px; }}
.sk-player .sk-small {{ font-size: 12px; opacity: .85; }}
.sk-player .sk-call, .sk-player .sk-tool, .sk-player .sk-title {{ overflow-wrap: anywhere; }}
.sk-player .sk-code {{ font: 12px/1.5 var(--jp-code-font-family, monospace), monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; unicode-bidi: isolate; margin: 4px 0; }}
.sk-player .sk-means {{ margin-top: 8px; font-weight: 600; }}
.sk-player .sk-pane {{ border: 1px solid rgba(128,128,128,.7); border-radius: 3px; height: 25em; display: flex;
  flex-direction: column; }}
.sk-player .sk-head-line {{ font-weight: 600; padding: 3px 8px; border-bottom: 1px solid rgba(128,128,128,.7); }}
.sk-player .sk-scroll {{ flex: 1; min-height: 0; overflow: auto; padding: 6px 8px; }}
.sk-player .sk-end {{ display: flex; flex-direction: column-reverse; }}
.sk-player .sk-end > div {{ margin-bottom: auto; }}
.sk-player .sk-f {{ border-left: 1px solid rgba(128,128,128,.8); }}
.sk-player mark.sk-new {{ color: inherit; background: rgba(128,128,128,.3); border-bottom: 2px solid {ACCENT};
  font-weight: 700; }}
.sk-player .sk-call, .sk-player .sk-block {{ margin: 0 0 10px; }}
.sk-player .sk-text {{ white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }}
.sk-player .sk-thinking {{ white-space: pre-wrap; overflow-wrap: anywhere; font-style: italic; }}
.sk-player .sk-tool {{ border: 1px solid currentColor; border-radius: 3px; padding: 2px 8px; }}
.sk-player .sk-state {{ font-weight: 600; white-space: nowrap; }}
.sk-player .sk-verdict {{ border-top: 1px solid rgba(128,128,128,.7); padding-top: 4px; font-weight: 600; }}
.sk-player .sk-line {{ display: block; width: 100%; max-width: 1100px; height: auto; }}
.sk-player svg text {{ font: 12px var(--jp-ui-font-family, system-ui, sans-serif); fill: currentColor; }}
.sk-player svg .sk-tiny {{ font-size: 11px; }}
.sk-player svg .sk-paper {{ fill: var(--jp-layout-color1, Canvas); }}
.sk-player svg path {{ stroke: currentColor; fill: none; }}
.sk-player svg .sk-thin {{ stroke-opacity: .6; }}
.sk-player svg .sk-ticks {{ stroke-opacity: .75; fill: currentColor; fill-opacity: .45; }}
.sk-player svg .sk-gap {{ stroke-width: 5; stroke-dasharray: 2 2; stroke: {ACCENT}; }}
.sk-player svg .sk-finish {{ stroke-dasharray: 6 3; stroke-width: 1.5; }}
.sk-player svg .sk-announced, .sk-player svg .sk-completed {{ fill: currentColor; }}
.sk-player svg .sk-first-parse {{ fill: var(--jp-layout-color1, Canvas); stroke-width: 2; }}
.sk-player svg .sk-cut {{ stroke-width: 2.5; }}
.sk-player svg .sk-head path {{ stroke: {ACCENT}; stroke-width: 2; fill: {ACCENT}; }}
.sk-player .sk-legend {{ display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 12px; }}
.sk-player .sk-mark {{ width: 16px; height: 16px; vertical-align: -3px; }}
.sk-player table.sk-table {{ border-collapse: collapse; font-size: 12px; margin: 6px 0; width: auto; }}
.sk-player .sk-table td, .sk-player .sk-table th {{ text-align: left; vertical-align: top; padding: 3px 10px;
  border: 1px solid rgba(128,128,128,.5); white-space: normal; }}
.sk-player table.sk-board {{ table-layout: fixed; width: 100%; }}
@media print {{
  .sk-player .sk-pane {{ height: auto; }}
  .sk-player .sk-scroll {{ overflow: visible; display: block; }}
  .sk-player .sk-board tr {{ break-inside: avoid; }}
}}
</style>"""

# While a player is alive its still picture, which stands in the same cell's output, is not shown.
ALIVE = """<style>
.jp-OutputArea:has(.sk-alive) .jp-OutputArea-child:has(.sk-still) { display: none; }
</style>"""

WRAP = '<div class="sk-player tex2jax_ignore mathjax_ignore {kind}">{body}</div>'


def wrapped(body: str, kind: str = "") -> str:
    """A piece of the player, in its own look; what looks like mathematics in it is not typeset."""
    return WRAP.format(kind=kind, body=body)


def pane(title: str, body: str, tail: bool = False) -> str:
    """A titled box that scrolls, by keyboard too; `tail` keeps its end in sight."""
    kind = "sk-scroll sk-end" if tail else "sk-scroll"
    return wrapped(
        f'<div class="sk-pane"><div class="sk-head-line">{title}</div>'
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{title}"><div>{body}</div></div></div>'
    )
