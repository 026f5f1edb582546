"""Groups of rows by level: a table that keeps what was not scored in sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape

from agent_judge.records import Criterion, Record
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.rubrics.rubric import Rubric
from agent_judge.stats.coverage import Tally, tally
from agent_judge.stats.size import group_order


@dataclass(frozen=True, kw_only=True)
class LevelTable:
    """How many rows of each group ended at each level of one criterion."""

    title: str
    criterion: Criterion
    groups: Mapping[str, Tally]

    @property
    def rubric(self) -> Rubric:
        """That of the criterion."""
        return rubric_of(self.criterion)

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels' names, best first; ranges of them where they are no whole numbers."""
        scale = self.rubric.scale
        named = map(self.rubric.label_of, scale.levels) if scale.whole else scale.bins
        return tuple(named)[::-1]

    def shares(self, group: str) -> tuple[float, ...] | None:
        """Share of the group's scored rows at each level, best first; None where none is scored."""
        counts = self.groups[group]
        if not counts.n_scored:
            return None
        return tuple(n / counts.n_scored for n in counts.n_in_bins(self.rubric.scale)[::-1])

    def _repr_html_(self) -> str:
        heads = ["", *self.labels, "no output", "unscored", "not run", "score (0-100)"]
        body = (self._cells(group, counts) for group, counts in self.groups.items())
        return html_table(f"{self.title}: {self.criterion}", heads, body)

    def _cells(self, group: str, counts: Tally) -> list[str]:
        scale = self.rubric.scale
        at_level = counts.n_in_bins(scale)[::-1]
        shares = self.shares(group) or (0.0,) * len(at_level)
        levels = [f"{n} ({share:.0%})" for n, share in zip(at_level, shares, strict=True)]
        lost = [counts.n_nothing_to_judge, counts.n_unscored, counts.n_not_run]
        mean = counts.mean_level
        return [
            group,
            *levels,
            *map(str, lost),
            "-" if mean is None else f"{scale.score_100(mean):.1f}",
        ]


def level_table(
    title: str,
    criterion: Criterion,
    records: Iterable[Record],
    key: Callable[[Record], str],
    planned: Mapping[str, int] | None = None,
) -> LevelTable:
    """The table of one criterion's records by group, sizes from the smallest, others by letter.

    Args:
        title: what the groups are.
        criterion: records of others are left out.
        records: of one editor and one mode, unless the groups tell them apart.
        key: the group of a record.
        planned: rows that were to be judged in each group; None when each has its record.
    """
    grouped: dict[str, list[Record]] = {name: [] for name in planned or {}}
    for record in records:
        if record.criterion == criterion:
            grouped.setdefault(key(record), []).append(record)
    groups = {
        name: tally(grouped[name], (planned or {}).get(name))
        for name in sorted(grouped, key=group_order)
    }
    return LevelTable(title=title, criterion=criterion, groups=groups)


def html_table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A plain HTML table; the first cell of each row is its head. All text is escaped.

    Example:
        >>> html_table("a < b", ["", "n"], [["x", "1"]])  # doctest: +ELLIPSIS
        '<table><caption>a &lt; b</caption><thead>...<th scope="row">x</th><td>1</td></tr>...'
    """
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = []
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(text)}</td>" for text in rest)
        body.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )
