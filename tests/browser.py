"""JupyterLab in a headless Chromium, kept off the network, for tests that look at notebooks as a learner does."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-color-profile=srgb"),
]
BUSY, READY = 120_000, 60_000  # milliseconds: for all cells of a chapter, and for a page or a kernel
# Off-screen cells must be in the page to be counted, and nothing may be saved behind a test's back.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": '{"windowingMode": "none"}',
    "@jupyterlab/docmanager-extension/plugin": '{"autosave": false}',
}


def chromium() -> str | None:
    """The path of a Chromium on this machine: CHROMIUM, or the first found under its usual names."""
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    return next((path for name in names if name and (path := shutil.which(name))), None)


@contextmanager
def lab(home: Path, env: dict[str, str]) -> Iterator[str]:
    """`streamkit lab` as a learner starts it, apart from this machine's settings; yields its address with the token.

    RuntimeError with the end of its log where it does not come up within a minute.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token, apart = secrets.token_hex(12), home / "jupyter"
    for name, setting in SETTINGS.items():
        path = apart / "settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(setting)
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    folders |= {
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "IPYTHONDIR": "ipython",
    }
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    options += [f"--IdentityProvider.token={token}", "--ServerApp.terminals_enabled=False"]
    with (home / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamkit", "lab", *options],
            env={**env, **{name: str(apart / folder) for name, folder in folders.items()}},
            cwd=home,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/api/status?token={token}", server, home / "lab.log")
            yield f"http://127.0.0.1:{port}/lab?token={token}"
        finally:
            server.terminate()
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait(address: str, server: subprocess.Popen, log: Path) -> None:
    begun = time.monotonic()
    while server.poll() is None and time.monotonic() - begun < READY / 1000:
        try:
            urllib.request.urlopen(address, timeout=2).read()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("JupyterLab did not start:\n" + log.read_text("utf-8", "replace")[-3000:])


class Screen:
    """One browser page. `errors` holds what its console said, `outside` the requests that would have left the machine."""

    def __init__(self, page, address: str):
        self.page, self.address = page, urllib.parse.urlsplit(address)
        self.errors, self.outside = [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)[:300]))
        page.on("console", lambda said: self.errors.append(said.text[:300]) if said.type == "error" else None)
        page.on("websocket", lambda socket: self._allowed(socket.url.replace("ws", "http", 1)))
        page.route("**/*", lambda route: route.continue_() if self._allowed(route.request.url) else route.abort())

    def _allowed(self, url: str) -> bool:
        if urllib.parse.urlsplit(url).netloc == self.address.netloc or url.startswith(("data:", "blob:")):
            return True
        self.outside.append(url[:200])
        return False

    def open(self, path: str) -> None:
        """Open a file of the lab's root and wait until its kernel is idle."""
        tree = self.address._replace(path=f"/lab/tree/{urllib.parse.quote(path)}", query=f"reset&{self.address.query}")
        self.page.goto(tree.geturl(), wait_until="domcontentloaded")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=READY)
        self.idle()

    def idle(self) -> None:
        """Wait for the kernel; before it is connected "Run All" would ask which kernel to take."""
        script = "document.querySelector('#jp-main-statusbar')?.innerText.includes('| Idle')"
        self.page.wait_for_function(script, timeout=READY)

    def run_all(self) -> None:
        """Run every cell and wait until each has its number."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.locator("#jp-mainmenu-run").get_by_text("Run All Cells", exact=True).click()
        self.numbered()

    def numbered(self) -> None:
        """Wait until every code cell that holds code has run."""
        script = """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].every(cell =>
            /\\[\\d+\\]/.test(cell.querySelector('.jp-InputPrompt').innerText))"""
        self.page.wait_for_function(script, timeout=BUSY)
        self.idle()

    def faults(self) -> list[str]:
        """The error and stderr outputs of the notebook."""
        kinds = ["application/vnd.jupyter.error", "application/vnd.jupyter.stderr"]
        return self.page.locator(
            ", ".join(f".jp-OutputArea-output[data-mime-type='{kind}']" for kind in kinds)
        ).all_inner_texts()

    def write(self, number: int, text: str) -> None:
        """Replace the text of code cell `number` (from 0) and run it."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Control+Enter")
        self.idle()
        self.page.wait_for_timeout(300)

    def run(self, number: int) -> str:
        """Run code cell `number` again; what it shows."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_timeout(300)
        self.idle()
        return cell.locator(".jp-OutputArea").inner_text()

    def shoot(self, folder: Path, name: str) -> None:
        """Pictures of the notebook from top to bottom, a screenful each: NAME-1.png, NAME-2.png …"""
        folder.mkdir(parents=True, exist_ok=True)
        box = self.page.locator(".jp-Notebook .jp-WindowedPanel-outer").first
        height, step = box.evaluate("e => [e.scrollHeight, e.clientHeight]")
        for number, top in enumerate(range(0, height, max(step - 60, 100)), 1):
            box.evaluate("(e, top) => { e.scrollTop = top }", top)
            self.page.wait_for_timeout(150)
            self.page.screenshot(path=folder / f"{name}-{number}.png")

    def save(self) -> None:
        """Save the notebook."""
        self.page.keyboard.press("ControlOrMeta+s")
        self.page.wait_for_timeout(1500)


@contextmanager
def browser() -> Iterator:
    """A headless Chromium; yields a function that opens a new `Screen` on a lab's address and closes the one before."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), headless=True, args=FLAGS)
        contexts = []

        def screen(address: str, width: int = 1280, height: int = 1600) -> Screen:
            while contexts:
                contexts.pop().close()
            contexts.append(running.new_context(viewport={"width": width, "height": height}))
            return Screen(contexts[-1].new_page(), address)

        yield screen
        running.close()
