"""The audit: a verdict for every claim of a draft against the passages, by rules first, then by a model where there is one.

It is given the question as it was asked, the draft and the passages, and nothing else. The one rule: rules and model may lower
a verdict of the proof, never raise it; only where a claim stands in a table is it read cell by cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from citewell.errors import BudgetSpent, CitewellError
from citewell.ingest.sentences import language
from citewell.models.base import LLM, Embedder
from citewell.models.prompt import fill, load
from citewell.skills.answer import tidy
from citewell.skills.audit_align import crossed, exchanged, supposed
from citewell.skills.audit_cells import misplaced, placed
from citewell.skills.audit_compare import miscompared
from citewell.skills.audit_counts import miscounted
from citewell.skills.audit_near import displaced, misnamed, redenied
from citewell.skills.audit_order import misordered
from citewell.skills.audit_ties import misgiven
from citewell.skills.audit_turns import overstated, turned
from citewell.skills.audit_units import mismeasured
from citewell.skills.audit_words import NEARLY, Finding, Line, bare, lines, nearly, plain, unbroken
from citewell.skills.cite import Proof, prove, renumber, sources
from citewell.skills.evidence import Passage
from citewell.skills.superlatives import said_of_all
from citewell.types import Citation, Message, Sentence, Verdict

Rule = Callable[[str, Sequence[Line]], list[Finding]]
RULES: tuple[Rule, ...] = (
    misordered,
    miscompared,
    turned,
    redenied,
    misgiven,
    displaced,
    misnamed,
    misplaced,
    mismeasured,
    miscounted,
    crossed,
    exchanged,
    overstated,
    supposed,
)
# Log-odds under which the model's reply makes a claim `partly`. On 53 claims of the sets written by hand in evals/ the
# built-in model gave none of the 21 true ones less, and 7 of the 32 false ones (AUC 0.69); the rules caught those too, so
# a no is a caution, neither a refutation nor a reason to word anew.
REFUSED_ODDS = 0.0
_BEYOND_A_ROW = re.compile(r"^number \S+ is not in the source$|^(?:only part|too few) of its words")
_RANK: dict[Verdict, int] = {"unsupported": 0, "partly": 1, "supported": 2}


@dataclass(frozen=True, slots=True)
class Audit:
    """`proof`: every sentence of the draft with its verdict. `log_odds`: the model's for each, None where it was not asked.
    `amiss`: the sentences that a revision should word anew: the failed, and those that say more than their source.
    """

    proof: Proof
    log_odds: tuple[float | None, ...] = ()
    amiss: frozenset[int] = frozenset()
    warnings: tuple[str, ...] = ()

    @property
    def failed(self) -> list[Sentence]:
        """What the passages do not say."""
        return [sentence for sentence in self.proof.sentences if sentence.verdict == "unsupported"]

    @property
    def passed(self) -> bool:
        """Whether nothing needs to be worded anew."""
        return not self.amiss


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence of the draft with its own citations, and whether a rule found it to say more than its source."""

    sentence: Sentence
    citations: list[Citation]
    beyond: bool = False

    def lowered(self, findings: Sequence[Finding]) -> _Claim:
        """The claim after what the rules found."""
        if not findings:
            return self
        fatal = any(finding.fatal for finding in findings)
        problems = list(dict.fromkeys([*self.sentence.problems, *(f.problem for f in findings if f.fatal == fatal)]))
        verdict: Verdict = "unsupported" if fatal else "partly"
        sentence = self.sentence.model_copy(update={"verdict": verdict, "problems": problems})
        return _Claim(sentence, [] if fatal else self.citations, beyond=True)

    def doubted(self) -> _Claim:
        """The claim after a model's no."""
        problems = [*self.sentence.problems, "the model does not find it in the passages"]
        return replace(self, sentence=self.sentence.model_copy(update={"verdict": "partly", "problems": problems}))


async def audit(question: str, draft: str, passages: Sequence[Passage], *, llm: LLM | None, embedder: Embedder | None) -> Audit:
    """Judge every sentence of `draft`. A model that fails leaves the rules' verdicts, with a warning."""
    claims, evidence = await _proved(question, draft, passages, embedder)
    claims = [_ruled(claim, evidence) for claim in claims]
    odds: list[float | None] = [None] * len(claims)
    warnings: list[str] = []
    if llm is not None:
        warnings = await _asked(llm, question, claims, passages, odds)
        claims = [c.doubted() if o is not None and o < REFUSED_ODDS else c for c, o in zip(claims, odds, strict=True)]
    amiss = frozenset(i for i, c in enumerate(claims) if c.beyond or c.sentence.verdict == "unsupported")
    return Audit(_joined(claims), tuple(odds), amiss, tuple(warnings))


def findings(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """What the rules find wrong with a claim."""
    said = bare(claim)
    if any(plain(said).rstrip(" .。") in line.text for line in evidence):
        return []  # a quotation
    return [finding for rule in RULES for finding in rule(said, evidence)]


def _ruled(claim: _Claim, evidence: Sequence[Line]) -> _Claim:
    return claim if claim.sentence.verdict == "unsupported" else claim.lowered(findings(claim.sentence.text, evidence))


async def _proved(
    question: str, draft: str, passages: Sequence[Passage], embedder: Embedder | None
) -> tuple[list[_Claim], list[Line]]:
    """The proof of each sentence; one that fails is tried again without its pointers, and in the tables."""
    asked, evidence = bare(question), lines(sources(passages))
    proof = await prove(tidy(draft), asked, passages, embedder)
    claims = []
    for sentence in proof.sentences:
        claim = _own(sentence, proof.citations)
        said = bare(sentence.text)
        for other in dict.fromkeys((said, unbroken(said))):
            if claim.sentence.verdict != "supported" and other != plain(sentence.text):
                again = await prove(other, asked, passages, embedder)
                claim = _better(claim, [_own(s, again.citations) for s in again.sentences])
        if claim.sentence.verdict != "supported" and all(_BEYOND_A_ROW.match(p) for p in claim.sentence.problems):
            rows = placed(said, evidence)
            spoken = said_of_all(said, [row.text for row in rows], "\n".join(row.source.context for row in rows))
            claim = claim if spoken else _in_table(claim, rows)
        claims.append(claim)
    return claims, evidence


def _own(sentence: Sentence, citations: Sequence[Citation]) -> _Claim:
    return _Claim(sentence, [c for c in citations if c.n in sentence.citations])


def _better(first: _Claim, others: Sequence[_Claim]) -> _Claim:
    """The second proof, if it is one sentence and proves more; in the words of the first."""
    if len(others) != 1 or _RANK[others[0].sentence.verdict] <= _RANK[first.sentence.verdict]:
        return first
    other = others[0]
    return _Claim(other.sentence.model_copy(update={"text": first.sentence.text}), other.citations)


def _in_table(claim: _Claim, rows: Sequence[Line]) -> _Claim:
    """A claim whose figures all stand in the rows and columns that it names."""
    if not rows:
        return claim
    citations = []
    for n, row in enumerate(rows, 1):
        hit, source = row.source.passage.hit, row.source
        citations.append(
            Citation(
                n=n,
                doc_id=hit.doc_id,
                title=hit.title,
                uri=hit.uri,
                page=hit.page,
                section=" › ".join(hit.heading_path),
                quote=source.text,
                start=source.start,
                end=source.end,
                score=1.0,
            )
        )
    update = {"verdict": "supported", "problems": [], "citations": [c.n for c in citations]}
    return _Claim(claim.sentence.model_copy(update=update), citations)


def _joined(claims: Sequence[_Claim]) -> Proof:
    """One proof of all claims, their citations numbered in the order of first use."""
    numbers: dict[tuple[str, int, int], int] = {}
    citations: list[Citation] = []
    shown = []
    for claim in claims:
        used = []
        for citation in claim.citations:
            key = (citation.doc_id, citation.start, citation.end)
            if key not in numbers:
                numbers[key] = len(numbers) + 1
                status = "verified" if claim.sentence.verdict == "supported" else "weak"
                citations.append(citation.model_copy(update={"n": numbers[key], "status": status}))
            used.append(numbers[key])
        shown.append(claim.sentence.model_copy(update={"citations": used}))
    return renumber(Proof(shown, citations), shown)


async def _asked(
    llm: LLM, question: str, claims: Sequence[_Claim], passages: Sequence[Passage], odds: list[float | None]
) -> list[str]:
    """Ask the model of every claim that the rules let pass and that is not nearly a quotation; fills `odds`, gives warnings."""
    evidence = lines(sources(passages))
    for i, claim in enumerate(claims):
        if claim.sentence.verdict == "unsupported" or _quoted(bare(claim.sentence.text), evidence):
            continue
        try:
            odds[i] = (await llm.yes_no(asking(question, passages, "claim", claim=claim.sentence.text))).log_odds
        except BudgetSpent as error:
            return [f"not every claim was shown to the model: {error.message}"]
        except CitewellError as error:
            return [f"the chat model did not check the claims: {error.message}"]
    return []


def _quoted(said: str, evidence: Sequence[Line]) -> bool:
    """Word for word in the passages, or so nearly that the rules see every change."""
    text = plain(said).rstrip(" .。")
    return any(text in line.text for line in evidence) or bool(nearly(said, evidence, NEARLY))


def asking(question: str, passages: Sequence[Passage], task: str, **variables: str) -> list[Message]:
    """What a model is asked, the same for every claim and for the revision up to the task at its end."""
    lang = language(question)
    shown = "\n\n".join(f"[{p.n}] {p.heading}\n{p.text}" for p in passages)
    (job,) = fill(load(f"skills/prompts/audit_{task}.{lang}.md"), **variables)
    return fill(load(f"skills/prompts/audit.{lang}.md"), passages=shown, question=question, task=job.content)
