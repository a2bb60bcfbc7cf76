"""How pictures look: colours, units, and the file that they end in."""

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402

INK, SOFT, LINE, GROUND, PANEL = "#1f2328", "#656d76", "#d8dee4", "#ffffff", "#ffffff"
GREEN, YELLOW, RED, BLUE = "#1a7f37", "#bf8700", "#cf222e", "#0969da"
NAMED = {"green": GREEN, "yellow": YELLOW, "red": RED, "blue": BLUE, "orange": "#bc4c00", "text": INK}
SERIES = ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#cf222e", "#0f766e", "#bf3989", "#9a6700", "#57606a", "#1f6feb",
          "#7d4e00", "#2da44e"]
DPI, COLOURS = 110, 256

plt.rcParams.update({
    "font.family": "DejaVu Sans", "font.size": 8, "text.color": INK, "axes.edgecolor": LINE, "axes.labelcolor": SOFT,
    "xtick.color": SOFT, "ytick.color": SOFT, "axes.linewidth": 0.8, "figure.facecolor": GROUND, "axes.facecolor": PANEL,
})


def value(number, unit):
    """A value for people."""
    if number is None or number != number:
        return "–"
    if number in (float("inf"), float("-inf")):
        return "∞" if number > 0 else "-∞"
    if unit == "percentunit":
        return _number(number * 100) + " %"
    if unit == "s":
        return _duration(number)
    if unit == "bytes":
        return _scaled(number, 1024, [" B", " KiB", " MiB", " GiB", " TiB"])
    if unit in ("reqps", "ops"):
        return _scaled(number, 1000, ["/s", "k/s", "M/s"])
    return _scaled(number, 1000, ["", "k", "M", "G"])


def _number(number):
    size = abs(number)
    if size == 0:
        return "0"
    for least, places in ((100, 0), (10, 1), (1, 2), (0.1, 3)):
        if size >= least:
            text = f"{number:.{places}f}"
            return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{number:.2g}" if size >= 1e-4 else f"{number:.0e}"


def _scaled(number, base, units):
    for unit in units[:-1]:
        if abs(number) < base:
            return _number(number) + unit
        number /= base
    return _number(number) + units[-1]


def _duration(seconds):
    size = abs(seconds)
    if size == 0:
        return "0 s"
    for least, unit, factor in ((86400, "d", 86400), (3600, "h", 3600), (60, "min", 60), (1, "s", 1), (1e-3, "ms", 1e-3)):
        if size >= least:
            return f"{_number(seconds / factor)} {unit}"
    return f"{_number(seconds * 1e6)} µs"


def save(figure, path):
    """Writes the figure as a small PNG: with a palette of few colours."""
    bytes_ = io.BytesIO()
    figure.savefig(bytes_, dpi=DPI, format="png")
    plt.close(figure)
    picture = Image.open(bytes_).convert("RGB").quantize(
        COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, optimize=True)
    return path.stat().st_size
