"""What each loop is worth: the same questions asked by one pass, by the dual loop without one of
its loops, and by all of it. The variants differ in what their names say and in nothing else; each
asks all questions before the next begins, so that none finds its prompts in the model's cache
because another has just sent them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from citewell.measure.report import Report
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress
from citewell.service.evaluate.eval_sets import Dataset, Options
from citewell.service.evaluate.evaluate import Evaluation
from citewell.service.evaluate.journal import Journal


@dataclass(frozen=True, slots=True)
class Variant:
    """An agent with the options that make it what `name` says."""

    name: str
    agent: str
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The name as part of a file's name."""
        return self.name.replace(",", "").replace(" ", "-")


VARIANTS: tuple[Variant, ...] = (
    Variant("qa", "qa"),
    Variant("dual_loop, no inner loop", "dual_loop", {"inner_loop": False}),
    Variant("dual_loop, no outer loop", "dual_loop", {"outer_loop": False}),
    Variant("dual_loop", "dual_loop"),
)


async def run_ablation(
    app: App,
    sets: Sequence[Dataset],
    options: Options,
    collection: str | None,
    journal: Callable[[Variant], Journal],
    told: Callable[[str], None],
    on_progress: OnProgress,
) -> AsyncIterator[tuple[Variant, Report]]:
    """A report for each of VARIANTS, as it is done. Journals are kept until all are, so that a
    stopped ablation goes on from there. Raises what `Evaluation.run` raises.
    """
    journals = []
    for variant in VARIANTS:
        journals.append(journal(variant))
        ways = replace(options, agent=variant.agent, said=variant.said)
        asking = Evaluation(app, sets, ways, collection, journals[-1], told)
        try:
            await asking.run(on_progress)
        finally:
            journals[-1].close(finished=False)
        yield variant, asking.report()
    for kept in journals:
        kept.close(finished=True)
