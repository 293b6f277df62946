"""Turn the evaluation data beside this checkout into the files that `citewell eval` reads.

    .venv/bin/python evals/convert.py --out DIR [--sets cranfield cmrc] [--data FOLDER]

Writes DIR/NAME.corpus.jsonl and DIR/NAME.questions.jsonl for each set of `SETS`. The one rule: a
set is one function that gives its documents and its questions; whatever is odd about a source is
put right here and nowhere else.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = REPOSITORY.parent / "shared" / "data"
HEADINGS = " › "  # between the headings that a passage stands under
Record = dict[str, Any]


class Made(NamedTuple):
    documents: list[Record]
    questions: list[Record]


def read(path: Path) -> list[Record]:
    return [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]


def question(source: Record, **more: Any) -> Record:
    """The fields of the format, from a source that calls them the same."""
    fields = (
        "id",
        "question",
        "lang",
        "answers",
        "answerable",
        "gold_doc_ids",
        "gold_pages",
        "history",
    )
    return {name: source[name] for name in fields if name in source} | more


# ---------------------------------------------------------------- searching


def cranfield(data: Path) -> Made:
    """Codes 1 (complete answer) to 4 (of little use) become grades 4 to 1; -1 (of no use) becomes
    0.
    """
    questions = []
    for source in read(data / "retrieval_en/cranfield_queries.jsonl"):
        gold = {doc: 5 - code if code > 0 else 0 for doc, code in source["gold"].items()}
        questions.append(question(source, answers=[], answerable=True, gold=gold))
    return Made(read(data / "retrieval_en/cranfield_corpus.jsonl"), questions)


def cmrc(data: Path, *, distractors: int | None = 0) -> Made:
    """`distractors`: so many news texts of CRUD beside the paragraphs; None: all 1,500, half an
    hour of embedding.
    """
    documents = read(data / "retrieval_zh/cmrc_corpus.jsonl")
    documents += read(data / "retrieval_zh/crud_distractors.jsonl")[:distractors]
    return Made(documents, [question(q) for q in read(data / "retrieval_zh/cmrc_questions.jsonl")])


def xquad(data: Path, asked: Sequence[str], kept: Callable[[Record], bool]) -> Made:
    """Questions of the languages `asked` over the paragraphs `kept`; gold is the paragraph in
    whichever language is there.
    """
    documents = [d for d in read(data / "retrieval_xlingual/xquad_corpus.jsonl") if kept(d)]
    there = {d["doc_id"] for d in documents}
    questions = []
    for source in read(data / "retrieval_xlingual/xquad_questions.jsonl"):
        if source["lang"] in asked:
            gold = [
                doc for doc in (*source["gold_doc_ids"], *source["gold_parallel"]) if doc in there
            ]
            questions.append(question(source, gold_doc_ids=gold))
    return Made(documents, questions)


def half(document: Record) -> bool:
    """Every other paragraph in English only, the rest in Chinese only."""
    number = int(document["doc_id"].split("#x")[1].split(":")[0])
    return bool(document["lang"] == ("en", "zh")[number % 2])


# ---------------------------------------------------------------- answering and refusing


def pair(data: Path, name: str) -> Made:
    """A corpus and questions that need nothing but their fields picked."""
    return Made(
        read(data / f"{name}_corpus.jsonl"),
        [question(q) for q in read(data / f"{name}_questions.jsonl")],
    )


def wordings(answers: Any) -> list[list[str]]:
    """RGB's answers: every element is needed; an element that is a list gives wordings of one of
    them.
    """
    parts = [answers] if isinstance(answers, str) else answers
    return [[part] if isinstance(part, str) else list(part) for part in parts]


def flat(texts: Iterable[Any]) -> list[str]:
    """RGB's documents, which may stand in lists of lists."""
    return [one for text in texts for one in ([text] if isinstance(text, str) else flat(text))]


def rgb(data: Path, name: str, *, rejecting: bool = False) -> Made:
    """The documents of all questions together, equal texts once. `rejecting`: without those that
    answer any of them.
    """
    sources = read(data / f"qa_refusal_{name[:2]}/rgb_{name}.jsonl")
    answering = {text for source in sources for text in flat(source["positive"])}
    numbers: dict[str, str] = {}
    questions = []
    for source in sources:
        texts = (
            flat(source["negative"])
            if rejecting
            else flat([source["positive"], source["negative"]])
        )
        for text in texts:
            if text.strip() and not (rejecting and text in answering):
                numbers.setdefault(text, f"rgb:{name}:d{len(numbers)}")
        parts = wordings(source["answers"])
        gold = (
            []
            if rejecting
            else [
                numbers[text] for text in dict.fromkeys(flat(source["positive"])) if text in numbers
            ]
        )
        more: Record = {
            "answers": parts[0] if len(parts) == 1 else [],
            "answerable": not rejecting,
            "gold_doc_ids": gold,
        }
        if len(parts) > 1:
            more["answer_parts"] = parts
        if rejecting:
            more |= {"answers": [], "answer_parts": []}
        questions.append(question(source) | more)
    lang = sources[0]["lang"]
    return Made(
        [{"doc_id": doc, "title": "", "text": text, "lang": lang} for text, doc in numbers.items()],
        questions,
    )


# ---------------------------------------------------------------- conversations


def folded(documents: Sequence[Record]) -> tuple[list[Record], dict[str, str]]:
    """Equal texts once, and under which id each document is kept: a search shows the same text once
    only.
    """
    first: dict[str, str] = {}
    kept = {d["doc_id"]: first.setdefault(d["text"].strip(), d["doc_id"]) for d in documents}
    return [d for d in documents if kept[d["doc_id"]] == d["doc_id"]], kept


def mtrag(data: Path, *, history: bool) -> Made:
    """The last turn of each conversation; small talk (`CONVERSATIONAL`) asks for no document and is
    left out.
    """
    documents, kept = folded(read(data / "multiturn_en/mtrag_corpus.jsonl"))
    questions = []
    for source in read(data / "multiturn_en/mtrag_tasks.jsonl"):
        label = source["answerability"][0]
        if label == "CONVERSATIONAL":
            continue
        turns = [{"role": turn["role"], "content": turn["text"]} for turn in source["turns"]]
        gold = list(dict.fromkeys(kept[doc] for doc in source["gold_doc_ids"]))
        yes = label != "UNANSWERABLE"
        more: Record = {
            "question": turns[-1]["content"].strip(),
            "answerable": yes,
            "gold_doc_ids": gold,
        }
        if history and turns[:-1]:
            more["history"] = turns[:-1]
        questions.append(question(source) | more | ({} if yes else {"answers": []}))
    return Made(documents, questions)


def rewrites(data: Path, way: str) -> Made:
    """Questions whose gold is all in the small corpus: the last turn alone, after those before it,
    or put whole by people.
    """
    documents, kept = folded(read(data / "multiturn_en/mtrag_corpus.jsonl"))
    questions = []
    for source in read(data / "multiturn_en/mtrag_rewrite.jsonl"):
        if not all(doc in kept for doc in source["gold_doc_ids"]):
            continue
        gold = list(dict.fromkeys(kept[doc] for doc in source["gold_doc_ids"]))
        more: Record = {"answers": [], "answerable": True, "gold_doc_ids": gold}
        if way == "human":
            more["question"] = source["rewrite"]
        if way == "history" and source["user_turns"][:-1]:
            more["history"] = [
                {"role": "user", "content": turn} for turn in source["user_turns"][:-1]
            ]
        questions.append(question(source) | more)
    return Made(documents, questions)


# ---------------------------------------------------------------- files


def files(folder: Path, pattern: str, lang: str = "") -> list[Record]:
    return [
        {"doc_id": path.name, "file": str(path)} | ({"lang": lang} if lang else {})
        for path in sorted(folder.glob(pattern))
        if path.is_file()
    ]


def paper_qa(data: Path) -> Made:
    questions = []
    for source in read(data / "paper_qa/questions.jsonl"):
        yes = source["answerable"]
        wanted = (
            ast.literal_eval(source["answer"])
            if yes and source["answer_format"] == "List"
            else [source["answer"]]
        )
        more: Record = {
            "answers": wanted if yes and len(wanted) == 1 else [],
            "gold_doc_ids": [source["pdf"]],
        }
        if len(wanted) > 1:
            more["answer_parts"] = [[part] for part in wanted]
        more["gold_pages"] = source["evidence_pages"]
        questions.append(question(source) | more)
    return Made(files(data / "paper_qa/pdf", "*.pdf", "en"), questions)


def qasper(data: Path) -> Made:
    """One paper stands there twice; several annotators' answers to one question become its
    answers.
    """
    documents, kept = folded(read(data / "paper_qa/qasper_leval_papers.jsonl"))
    questions: dict[tuple[str, str], Record] = {}
    for source in read(data / "paper_qa/qasper_leval_questions.jsonl"):
        doc = kept[source["doc_id"]]
        fresh = question(source, answers=[], gold_doc_ids=[doc])
        one = questions.setdefault((doc, source["question"].strip()), fresh)
        one["answers"] = list(dict.fromkeys([*one["answers"], source["answer"]]))
    return Made(
        [d | {"title": d["text"].split("\n")[0] or d["doc_id"]} for d in documents],
        list(questions.values()),
    )


def debian(data: Path, asked: str, read_in: str) -> Made:
    """Questions are headings of the site word for word, so searching is easy in their language and
    harder in the other.
    """
    pages = {"en": "en", "zh": "zh-cn"}
    questions = []
    for source in read(data / f"website_{asked}/debian_faq_questions.jsonl"):
        page = source["gold_page"].replace(f".{pages[asked]}.", f".{pages[read_in]}.")
        questions.append(
            question(source, answers=[source["answer_section_text"]], gold_doc_ids=[page])
        )
    return Made(
        files(data / f"website_{read_in}/site_debian_faq", f"*.{pages[read_in]}.html", read_in),
        questions,
    )


def hand(_: Path, file: str, held: float, asked: Sequence[str] = ("own", "other")) -> Made:
    """Questions written by hand, each with a twin that its passage does not answer, of the last
    `held` of each file's passages; the reader's training sees none of these. All passages written
    by hand are the corpus, a first line of headings their title. `asked`: in the passage's own
    language, in the other one, or in both.
    """
    taught = sorted((REPOSITORY / "training/reader/gold").glob("*.jsonl"))
    asked_of = sorted((REPOSITORY / "training/reader").glob(file)) or [REPOSITORY / file]
    documents, questions = [], []
    for path in sorted({*taught, *asked_of}):
        passages = sorted(read(path), key=lambda passage: str(passage["id"]))
        documents += [{"doc_id": p["id"], "lang": p["lang"]} | titled(p) for p in passages]
        for passage in passages[round(len(passages) * (1 - held)) :] if path in asked_of else ():
            blocks = (
                ("own", passage, passage["lang"]),
                ("other", passage.get("cross") or {}, "zh" if passage["lang"] == "en" else "en"),
            )
            for at, (whose, item, lang) in enumerate(
                (whose, item, lang)
                for whose, block, lang in blocks
                for item in block.get("questions", ())
            ):
                if whose not in asked:
                    continue
                one = {"lang": lang, "gold_doc_ids": [passage["id"]]}
                told = {"id": f"{passage['id']}-{at}", "question": item["q"]}
                if item["answer"]:
                    questions.append(one | told | {"answers": [item["answer"]], "answerable": True})
                else:
                    questions.append(
                        one | told | {"answers": [], "answerable": False, "gold_doc_ids": []}
                    )
                twin = {
                    "id": f"{passage['id']}-{at}-twin",
                    "question": item.get("twin"),
                    "answers": [],
                    "answerable": False,
                }
                questions += [one | twin | {"gold_doc_ids": []}] if item.get("twin") else []
    return Made(documents, questions)


def titled(passage: Record) -> Record:
    heading, _, body = passage["passage"].partition("\n")
    if HEADINGS in heading and body:
        return {"title": heading, "text": body}
    return {"title": passage["title"], "text": passage["passage"]}


def samples(_: Path) -> Made:
    return Made(
        files(REPOSITORY / "samples/library", "*"), read(REPOSITORY / "samples/questions.jsonl")
    )


def help_pages(_: Path) -> Made:
    """Manuals, rules and pages of questions and answers written by hand: to fit on, never to be
    measured by.
    """
    folder = REPOSITORY / "training/answers"
    return Made(files(folder / "pages", "*.md"), read(folder / "questions.jsonl"))


EN, ZH, BOTH = ("en",), ("zh",), ("en", "zh")
SETS: dict[str, Callable[[Path], Made]] = {
    "cranfield": cranfield,
    "cmrc": cmrc,
    "cmrc-crud500": partial(cmrc, distractors=500),
    "cmrc-crud": partial(cmrc, distractors=None),
    "xquad-en": partial(xquad, asked=EN, kept=lambda d: d["lang"] == "en"),
    "xquad-zh": partial(xquad, asked=ZH, kept=lambda d: d["lang"] == "zh"),
    "xquad-zh-on-en": partial(xquad, asked=ZH, kept=lambda d: d["lang"] == "en"),
    "xquad-en-on-zh": partial(xquad, asked=EN, kept=lambda d: d["lang"] == "zh"),
    # every paragraph in both languages
    "xquad-mixed": partial(xquad, asked=BOTH, kept=lambda _: True),
    # every paragraph in one of them: half of the answers are foreign
    "xquad-half": partial(xquad, asked=BOTH, kept=half),
    "squad2": partial(pair, name="qa_refusal_en/squad2"),
    "clapnq": partial(pair, name="qa_refusal_en/clapnq"),
    "rgb-zh-refine": partial(rgb, name="zh_refine"),
    "rgb-zh-int": partial(rgb, name="zh_int"),
    "rgb-zh-fact": partial(rgb, name="zh_fact"),
    "rgb-en-fact": partial(rgb, name="en_fact"),
    "rgb-zh-reject": partial(rgb, name="zh_refine", rejecting=True),
    "mtrag-last": partial(mtrag, history=False),
    "mtrag-history": partial(mtrag, history=True),
    "mtrag-rewrite-last": partial(rewrites, way="last"),
    "mtrag-rewrite-history": partial(rewrites, way="history"),
    "mtrag-rewrite-human": partial(rewrites, way="human"),
    "paper_qa": paper_qa,
    "qasper": qasper,
    "debian-en": partial(debian, asked="en", read_in="en"),
    "debian-zh": partial(debian, asked="zh", read_in="zh"),
    "debian-zh-on-en": partial(debian, asked="zh", read_in="en"),
    "samples": samples,
    "hand": partial(hand, file="gold/*.jsonl", held=0.15),
    "guide": partial(hand, file="guide/*.jsonl", held=0.15, asked=["own"]),
    "guide-across": partial(hand, file="guide/*.jsonl", held=0.15, asked=["other"]),
    "help": help_pages,
    "pages": partial(hand, file="evals/reader/pages.jsonl", held=1.0, asked=["own"]),
    "pages-across": partial(hand, file="evals/reader/pages.jsonl", held=1.0, asked=["other"]),
    "hand-fresh": partial(hand, file="evals/reader/fresh.jsonl", held=1.0),
}


def halves(made: Made, name: str) -> dict[str, Made]:
    """The questions in two parts, those on one paragraph together: one to fit on, one to be
    measured by.
    """
    parts: dict[str, list[Record]] = {f"{name}-fit": [], f"{name}-test": []}
    for asked in made.questions:
        group = (asked.get("gold_doc_ids") or [asked["question"]])[0]
        part = (
            "fit"
            if int(hashlib.md5(group.encode(), usedforsecurity=False).hexdigest(), 16) % 2
            else "test"
        )
        parts[f"{name}-{part}"].append(asked)
    return {part: Made(made.documents, questions) for part, questions in parts.items()}


def write(path: Path, records: Iterable[Record]) -> None:
    path.write_text(
        "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records),
        encoding="utf-8",
    )


DOCUMENT_FIELDS = ("doc_id", "title", "text", "lang", "url", "page", "file")


def make(name: str, data: Path, out: Path, *, halved: bool = False) -> Made | None:
    """Write the two files of a set, or of each of its halves; None where its source is not
    there.
    """
    try:
        made = SETS[name](data)
    except FileNotFoundError:
        return None
    if not made.documents:
        return None
    out.mkdir(parents=True, exist_ok=True)
    for part, of_part in (halves(made, name) if halved else {name: made}).items():
        write(
            out / f"{part}.corpus.jsonl",
            ({k: d[k] for k in DOCUMENT_FIELDS if k in d} for d in of_part.documents),
        )
        write(out / f"{part}.questions.jsonl", of_part.questions)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument("--data", type=Path, default=DATA, help="the evaluation data")
    parser.add_argument(
        "--sets",
        nargs="*",
        default=list(SETS),
        choices=list(SETS),
        metavar="NAME",
        help=", ".join(SETS),
    )
    parser.add_argument(
        "--halves",
        action="store_true",
        help="NAME-fit and NAME-test: what is fitted on, what is measured by",
    )
    args = parser.parse_args()
    for name in args.sets:
        made = make(name, args.data, args.out, halved=args.halves)
        if made is None:
            print(f"{name}: its data is not here, left out", file=sys.stderr)
        else:
            print(f"{name}: {len(made.documents)} documents, {len(made.questions)} questions")


if __name__ == "__main__":
    main()
