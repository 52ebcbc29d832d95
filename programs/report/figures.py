"""The figures of a report, as SVG and PNG. Matplotlib is loaded when there is one to draw."""

from __future__ import annotations

from pathlib import Path

from programs.report.results import Results


def write_figures(results: Results, folder: Path) -> list[Path]:
    """Draw what there is data for, and give the files."""
    from programs.report.evidence_figure import evidence_figure
    from programs.report.figure_style import save, style
    from programs.report.profile_figure import profile_figure
    from programs.report.quality_figure import quality_figure

    drawers = {"quality-latency": quality_figure, "components": profile_figure, "evidence": evidence_figure}
    paths: list[Path] = []
    with style():
        for stem, draw in drawers.items():
            figure = draw(results)
            if figure is not None:
                paths += save(figure, folder, stem)
    return paths
