#!/usr/bin/env python3
"""Set up streamkit and run it; needs only Python and its standard library.

    python3 kit.py lab [options of jupyter lab]     open the course (the default)
    python3 kit.py test [options of pytest]         run every check
    python3 kit.py bundle                           fill `wheels/` for machines without a network, of this kind and this Python
    python3 kit.py COMMAND …                        anything else, inside the environment: kit.py streamkit show …
    python3 kit.py help                             print this

The first run makes `.venv` and installs into it; later runs start at once. STREAMKIT_VENV names another folder. Where there is a
folder `wheels/`, it installs from that alone, and asks no network.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENV = Path(os.environ.get("STREAMKIT_VENV", ROOT / ".venv"))
BIN = ENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
WHEELS = ROOT / "wheels"
KIND = WHEELS / "KIND.txt"  # its first line: which machines the wheels are for
BUILDS = ("hatchling", "editables")  # what installing the project itself takes
STAMP = ENV / ".streamkit-stamp"
NEEDED = 1_500_000_000  # bytes: what a finished environment takes, and some air


def stop(sentence):
    sys.exit("streamkit: " + sentence)


def wanted():
    """What the environment must have been made from: the project's metadata and this Python."""
    return (ROOT / "pyproject.toml").read_text("utf-8") + sys.version


def ready():
    return PYTHON.exists() and STAMP.exists() and STAMP.read_text("utf-8") == wanted()


def kind():
    """This kind of machine and this Python: wheels made on it fit no other."""
    python = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
    return f"{sysconfig.get_platform()}, {python}"


def bundled():
    """The options with which pip installs from `wheels/` alone; none where there is no such folder."""
    if not WHEELS.is_dir():
        return []
    made = KIND.read_text("utf-8").splitlines()[0] if KIND.is_file() else "nobody knows what: KIND.txt is missing in it"
    if made != kind():
        stop(
            f"the folder wheels/ is for {made}; this is {kind()}. Make it with this Python (python3 kit.py bundle), or move it away to install over the network"
        )
    return ["--no-index", "--find-links", str(WHEELS)]


def bundle():
    """Fill `wheels/` with everything that the first run installs. Takes a network."""
    fresh = ROOT / "build" / "wheels"
    shutil.rmtree(fresh, ignore_errors=True)
    command = [
        str(PYTHON),
        "-m",
        "pip",
        "wheel",
        "-q",
        "--disable-pip-version-check",
        "--wheel-dir",
        str(fresh),
        f"{ROOT}[test]",
        *BUILDS,
    ]
    if subprocess.call(command):
        stop(
            "pip could not fetch or build the wheels (its message is above). The old folder, if there was one, is as it was"
        )
    for own in fresh.glob("streamkit-*.whl"):
        own.unlink()  # the project is installed from its own folder
    (fresh / KIND.name).write_text(
        f"{kind()}\nMade by: python3 kit.py bundle. Copy the whole project folder, wheels/ included.\n", "utf-8"
    )
    shutil.rmtree(WHEELS, ignore_errors=True)
    fresh.rename(WHEELS)
    files = list(WHEELS.glob("*.whl"))
    size = sum(file.stat().st_size for file in files) // 10**6
    print(
        f"streamkit: {len(files)} wheels, {size} MB, in {WHEELS}\nThey are for {kind()}. Copy the project folder with them; the two commands then need no network."
    )


def lacking():
    """One sentence for what this machine lacks, or nothing."""
    if sys.version_info < (3, 11):  # noqa: UP036 (an older one runs this file)
        return f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}. Install a newer one and run it with: python3.12 kit.py"
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return "this Python has no venv module. On Debian or Ubuntu type: sudo apt install python3-venv"
    ENV.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(ENV.parent).free
    if free < NEEDED:
        return f"{NEEDED // 10**6} MB of disk are needed, {free // 10**6} MB are free. Free some, or set STREAMKIT_VENV to a folder on another disk"
    return None


def setup():
    if (problem := lacking()) is not None:
        stop(problem)
    source = bundled()
    print(f"streamkit: setting up {ENV} (first run only, about a minute)", flush=True)
    import venv

    try:
        venv.EnvBuilder(with_pip=True, clear=True, symlinks=os.name != "nt").create(ENV)
    except (subprocess.CalledProcessError, OSError) as error:
        stop(f"could not make {ENV}: {error}. On Debian or Ubuntu type: sudo apt install python3-venv")
    if subprocess.call(
        [str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", *source, "-e", f"{ROOT}[test]"]
    ):
        stop(
            "pip could not install the packages (its message is above). Mend that, most often the network, and run this again"
        )
    STAMP.write_text(wanted(), "utf-8")


def main(argv):
    if argv and argv[0] in ("help", "-h", "--help"):
        return print(__doc__.strip())
    if argv[:1] == ["bundle"] and argv[1:]:
        stop(
            "bundle takes no options, and did nothing. It fills wheels/ with all that the first run installs (some 200 MB, "
            "over the network), for machines of this kind with this Python; type: python3 kit.py bundle"
        )
    if not ready():
        setup()
    env = dict(os.environ, PATH=f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}", VIRTUAL_ENV=str(ENV))
    what, rest = (argv[0], argv[1:]) if argv else ("lab", [])
    if what == "bundle":
        return bundle()
    if what == "lab":
        command = [str(PYTHON), "-m", "streamkit", "lab", *rest]
    elif what == "test":
        workers = str(min(os.cpu_count() or 1, 4))
        command = [str(PYTHON), "-m", "pytest", "-n", workers, "--dist", "loadfile", "--no-loadscope-reorder", *rest]
    else:
        command = [shutil.which(what, path=env["PATH"]) or what, *rest]
    try:
        return subprocess.call(command, cwd=ROOT, env=env)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        stop(
            f"could not run {what}: {error.strerror or error}. Known words are lab, test and bundle; see: python3 kit.py help"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
