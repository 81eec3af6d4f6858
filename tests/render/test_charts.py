"""Charts: points are where they should be, and a file is whole."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from zerotag.render.charts import Chart, Line, Mark, svg

SPACE = "{http://www.w3.org/2000/svg}"


def test_points_marks_and_names_are_where_they_belong() -> None:
    lines = (Line("a & b", [(0, 0), (0.5, 1), (1, 0.25)], sizes=[2, 3, 4]), Line("other", [(0, 1), (1, 1)], hue=1))
    root = ET.fromstring(svg(Chart("<Title>", "score", "share", lines, (Mark(0.5, "threshold"),), "diagonal")))
    texts = [text.text for text in root.iter(f"{SPACE}text")]
    assert {"<Title>", "score", "share", "a & b", "other", "threshold", "diagonal", "0.0", "1.0"} <= set(texts)
    dots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"]), dot.attrib["r"]) for dot in root.iter(f"{SPACE}circle")]
    (left, bottom, _), (middle, top, _), (right, quarter, _) = dots
    assert middle == (left + right) / 2
    assert quarter == bottom + (top - bottom) / 4
    assert [size for _, _, size in dots] == ["2.0", "3.0", "4.0"]
    ways = [line.attrib["points"] for line in root.iter(f"{SPACE}polyline")]
    assert f"{left:.1f},{bottom:.1f} {middle:.1f},{top:.1f} {right:.1f},{quarter:.1f}" in ways
    assert f"{middle:.1f},{bottom:.1f} {middle:.1f},{top:.1f}" in ways  # the mark
    assert f"{left:.1f},{bottom:.1f} {right:.1f},{top:.1f}" in ways  # the diagonal
