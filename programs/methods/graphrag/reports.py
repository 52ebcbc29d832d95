"""Reports: what each community is about, from the deepest level up, so that a large one can stand on its parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import dspy

from programs.methods.graphrag.asking import Asking
from programs.methods.graphrag.knowledge import Community, EntityGraph
from programs.methods.graphrag.settings import GraphragSettings
from signatures.baselines.graphrag import CommunityReport, WriteReport


@dataclass
class Reported:
    """Communities, and the reports that have been written so far."""

    graph: EntityGraph
    communities: Sequence[Community]
    reports: dict[int, CommunityReport] = field(default_factory=dict)

    def facts(self, number: int, asking: Asking, room: int) -> str:
        """List a community's entities and relationships; reports of its parts stand for them where they don't fit.

        The largest parts are replaced first, and as few as will do. What still does not fit is cut off.
        """
        relationships = self.graph.inside(self.communities[number].members)
        parts = self._reported_parts(number)
        for count in range(len(parts) + 1):
            hidden = {member for part in parts[:count] for member in self.communities[part].members}
            told = self._lines(relationships, hidden)
            lines = [*(self.reports[part].text for part in parts[:count]), *told]
            if sum(map(asking.tokens, lines)) <= room:
                break
        return "\n".join(asking.fill(lines, room))

    def _reported_parts(self, number: int) -> list[int]:
        """Give the parts of a community that have a report, the largest first."""
        parts = (part for part in self.reports if self.communities[part].parent == number)
        return sorted(parts, key=lambda part: (-len(self.communities[part].members), part))

    def _lines(self, relationships: Sequence[int], hidden: set[int]) -> list[str]:
        """Say each relationship after the entities that it joins. One between hidden entities is told by a report."""
        lines: dict[str, None] = {}
        for number in relationships:
            pair = self.graph.relationships[number]
            shown = [end for end in (pair.source, pair.target) if end not in hidden]
            if shown:
                entities = (self.graph.entities[end].text for end in shown)
                lines |= dict.fromkeys([*entities, self.graph.statement(number)])
        return list(lines)


class Reporting(dspy.Module):  # type: ignore[misc]
    """One call a community."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(WriteReport)

    def report(
        self, graph: EntityGraph, communities: Sequence[Community], asking: Asking, settings: GraphragSettings
    ) -> dict[int, CommunityReport]:
        """Report on every community with a relationship inside it. One whose completion is unreadable has none."""
        room = asking.room(settings.report_input_tokens, settings.report_tokens)
        levels: defaultdict[int, list[int]] = defaultdict(list)
        for number, community in enumerate(communities):
            if graph.inside(community.members):
                levels[community.level].append(number)
        reported = Reported(graph, communities)
        for level in sorted(levels, reverse=True):
            many = [{"community": reported.facts(number, asking, room)} for number in levels[level]]
            answers = asking.all(self.write, "report", settings.report_tokens, many)
            reported.reports |= {n: a.report for n, a in zip(levels[level], answers, strict=True) if a is not None}
        return dict(sorted(reported.reports.items()))
