"""Items become a report. Counted here, once; tables, pages and comparisons only show."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citewell.measure import samples
from citewell.measure.figures import compute_figures, compute_latency, compute_slices
from citewell.measure.report import Group, Item, Report, Run


def build_report(
    items: Sequence[Item],
    *,
    of: int,
    run: Run,
    troubles: Sequence[str],
    model: Callable[[dict[str, float]], float],
    calibrate: bool = False,
) -> Report:
    """`of`: questions to ask. `model`: the search confidence. `calibrate`: fit weights too."""
    counted: dict[str, int] = {}
    intervals: dict[str, tuple[float, float]] = {}
    groups: dict[str, Group] = {}
    for group, named in compute_figures(items).items():
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
    pick = samples.fit_weights(samples.PICK, items, samples.label_picks) if calibrate else None
    ways = {
        f"answer:{tier}": samples.make_answer_labeller(tier, pick)
        for tier in samples.list_tiers(items)
    }
    ways = {"retrieval": samples.label_searches, **ways} if calibrate else {}
    fits = [
        fit for name, of_item in ways.items() if (fit := samples.fit_weights(name, items, of_item))
    ]
    fits += [pick] if pick else []
    return Report(
        n=len(items),
        of=of,
        **groups,
        latency_s=compute_latency(items),
        intervals=intervals,
        counted=counted,
        reliability=samples.measure_in_force(items, model),
        slices=compute_slices(items),
        fits=fits,
        troubles=[*troubles, *told],
        run=run,
        items=list(items),
    )
