"""Items become a report. The one rule: counted here, once; tables, pages and comparisons only
show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citewell.measure import samples
from citewell.measure.figures import figures, latency, slices
from citewell.measure.report import Group, Item, Report, Run


def report(
    items: Sequence[Item],
    *,
    of: int,
    run: Run,
    troubles: Sequence[str],
    model: Callable[[dict[str, float]], float],
    calibrate: bool = False,
) -> Report:
    """`of`: how many questions were to be asked. `model`: the search confidence in force.
    `calibrate`: fit new weights too.
    """
    counted: dict[str, int] = {}
    intervals: dict[str, tuple[float, float]] = {}
    groups: dict[str, Group] = {}
    for group, named in figures(items).items():
        groups[group] = {name: found.value if found else None for name, found in named.items()}
        for name, found in named.items():
            if found:
                intervals[f"{group}.{name}"] = (found.low, found.high)
                counted[f"{group}.{name}"] = found.n
    failed = [item for item in items if item.error]
    told = (
        [f"{len(failed)} questions could not be asked; {failed[0].id}: {failed[0].error}"]
        if failed
        else []
    )
    pick = samples.fitted(samples.PICK, items, samples.picks) if calibrate else None
    ways = {f"answer:{tier}": samples.answers(tier, pick) for tier in samples.tiers(items)}
    ways = {"retrieval": samples.searches, **ways} if calibrate else {}
    fits = [fit for name, of_item in ways.items() if (fit := samples.fitted(name, items, of_item))]
    fits += [pick] if pick else []
    return Report(
        n=len(items),
        of=of,
        **groups,
        latency_s=latency(items),
        intervals=intervals,
        counted=counted,
        reliability=samples.in_force(items, model),
        slices=slices(items),
        fits=fits,
        troubles=[*troubles, *told],
        run=run,
        items=list(items),
    )
