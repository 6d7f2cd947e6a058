"""The table at the end of a session: how near every configuration came."""

from collections.abc import Sequence

import pytest

from clearhead.testing import Deviation

_PROPERTY = "parity"


def as_property(family: str, name: str, found: Sequence[Deviation]) -> tuple[str, list[object]]:
    """What a test notes of a configuration, in types that travel between processes."""
    worst = max(found, key=lambda item: item.worst / item.allowed)
    return _PROPERTY, [family, name, len(found), worst.worst, worst.allowed, worst.site]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints a row for each configuration: the worst of all its sites, beside what is allowed."""
    rows: dict[tuple[str, str], list] = {}
    for report in terminalreporter.getreports("passed"):
        for key, value in report.user_properties:
            if key == _PROPERTY:
                family, name, *rest = value
                before = rows.get((family, name))
                if before is None or rest[1] / rest[2] > before[1] / before[2]:
                    rows[family, name] = rest
    if not rows:
        return
    terminalreporter.section("parity with the reference, at every site")
    terminalreporter.line(f"{'family':<11}{'configuration':<29}{'sites':>5}  {'max |Δ|':<9}{'allowed':<9}at")
    for (family, name), (n_sites, worst, allowed, site) in rows.items():
        where = f"{worst:<9.1e}{allowed:<9.1e}{site}" if worst else "bit for bit"
        terminalreporter.line(f"{family:<11}{name:<29}{n_sites:>5}  {where}")
    share = max(row[1] / row[2] for row in rows.values())
    total = sum(row[0] for row in rows.values())
    terminalreporter.line(
        f"{len(rows)} configurations, {total} sites; the worst has used {share:.1%} of what is allowed"
    )
