"""A graph declared as one literal table of edges, checked at import, run on LangGraph.

    @node("InputValidationNode")
    async def input_validation(state: S, deps: Deps) -> Literal["default", "return_error"]: ...

    GRAPH = Graph("qa", {input_validation: {"default": understanding, "return_error": END}, ...})

A node reads, awaits, then writes its state; the label it returns picks the edge. A label without an
edge, an edge without a label, a target that is not in the table, a node that cannot be reached:
`Graph(...)` raises, so the import fails. The one rule: wrong wiring never reaches a user.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from citewell.errors import StepLimit
from citewell.instrumentation import observe_operation
from citewell.types import Step


class State(Protocol):
    """What every agent's state has: how each node ended, by its spec name. A node that fails says
    so itself.
    """

    node_execution_status: dict[str, str]


S = TypeVar("S", bound=State)
Node = Callable[[Any, Any], Awaitable[str]]
END: Final = "END"
Target = Node | Literal["END"]
Table = Mapping[Node, Mapping[str, Target]]

# Called when a node is done, before anybody hears of it: its Step, and the name of the node that
# comes next, or END.
Done = Callable[[Step, str], Awaitable[None]]


async def _ignore_step(_: Step, __: str) -> None:
    """Nobody keeps how far the run has come."""


_sink: ContextVar[Callable[[Any], None]] = ContextVar("sink")
_detail: ContextVar[dict[str, Any]] = ContextVar("detail")
_name: ContextVar[str] = ContextVar("name", default="")


class WiringError(Exception):
    """A graph's table is wrong: a programmer's mistake, raised at import."""


def node(spec_name: str) -> Callable[[Node], Node]:
    """Declare the name under which the spec knows this node; traces and diagrams show it."""

    def declare(function: Node) -> Node:
        function.spec_name = spec_name  # type: ignore[attr-defined]
        return function

    return declare


def get_node_name(function: Target) -> str:
    """A node's spec name, or END."""
    return (
        function
        if isinstance(function, str)
        else str(getattr(function, "spec_name", function.__name__))
    )


def emit(event: Any) -> None:
    """From inside a node: put an event (a token, a citation, a warning) into the run's stream."""
    _sink.get()(event)


def record_detail(**detail: Any) -> None:
    """From inside a node: what this step did, for its `Step.detail`."""
    _detail.get().update(detail)


def get_current_node() -> str:
    """The node inside which this is asked, by its spec name; empty outside of any."""
    return _name.get()


def enter_node(name: str, sink: Callable[[Any], None]) -> dict[str, Any]:
    """A node begins in this task: where its events go, and what it will have noted. For `Graph` and
    `step_runner.py`.
    """
    detail: dict[str, Any] = {}
    _sink.set(sink)
    _detail.set(detail)
    _name.set(name)
    return detail


class Graph(Generic[S]):
    """The table, checked. The first row is where a run starts."""

    def __init__(self, name: str, table: Table, *, step_limit: int = 40) -> None:
        self.name = name
        self.table = table
        self.step_limit = step_limit
        self._compiled: Any = None
        self._check_table()

    def _check_table(self) -> None:
        if not self.table:
            raise WiringError(f"{self.name}: the table is empty")
        names = [get_node_name(n) for n in self.table]
        if len(set(names)) != len(names):
            raise WiringError(f"{self.name}: two nodes share a name: {sorted(names)}")
        for function, edges in self.table.items():
            self._check_labels(function, edges)
            for label, target in edges.items():
                if target != END and target not in self.table:
                    raise WiringError(
                        f"{self.name}: {get_node_name(function)} "
                        f"--{label}--> {get_node_name(target)}: "
                        "target has no row"
                    )
        reached = self._find_reachable()
        orphans = [get_node_name(n) for n in self.table if n not in reached]
        if orphans:
            raise WiringError(f"{self.name}: no way leads to {', '.join(orphans)}")
        if END not in reached:
            raise WiringError(f"{self.name}: no way leads to the end")

    def _check_labels(self, function: Node, edges: Mapping[str, Target]) -> None:
        returns = get_type_hints(function).get("return")
        if get_origin(returns) is not Literal:
            raise WiringError(
                f"{self.name}: {get_node_name(function)} must declare Literal[...] as its return "
                "type"
            )
        declared = set(get_args(returns))
        if declared != set(edges):
            missing, extra = sorted(declared - set(edges)), sorted(set(edges) - declared)
            raise WiringError(
                f"{self.name}: {get_node_name(function)}: labels without edge {missing}, edges "
                "without "
                f"label {extra}"
            )

    def _find_reachable(self) -> set[Target]:
        found: set[Target] = set()
        todo: list[Target] = [next(iter(self.table))]
        while todo:
            at = todo.pop()
            if at not in found:
                found.add(at)
                todo.extend(self.table[at].values() if callable(at) else [])
        return found

    def mermaid(self) -> str:
        """The graph as Mermaid text; `docs/` shows it and a test compares."""
        lines = ["flowchart TD", f"    Start([start]) --> {_format_box(next(iter(self.table)))}"]
        for function, edges in self.table.items():
            lines += [
                f"    {_format_box(function)} -->|{label}| {_format_box(target)}"
                for label, target in edges.items()
            ]
        return "\n".join(lines)

    async def run(
        self, state: S, deps: Any, *, start: str = "", n: int = 0, done: Done = _ignore_step
    ) -> AsyncIterator[Any]:
        """Run to the end, yielding a `Step` after every node and whatever nodes `emit` in between.
        `state` is changed in place. `start`: the node to go on from, in a run whose first `n` steps
        are done. `done` is awaited after every node: who keeps the state there can go on from it,
        and a step that could not be kept is not over. Raises StepLimit when more than `step_limit`
        nodes have run.
        """
        from langgraph.errors import GraphRecursionError  # heavy: only a run needs it

        first = start or get_node_name(next(iter(self.table)))
        if first not in {get_node_name(function) for function in self.table}:
            raise WiringError(f"{self.name}: there is no node {first} to start from")
        config = {"recursion_limit": self.step_limit, "configurable": {"deps": deps, "done": done}}
        stream = self.get_compiled().astream(
            {"state": state, "next": first, "n": n}, config, stream_mode="custom"
        )
        try:
            async for event in stream:
                yield event
        except GraphRecursionError:
            raise StepLimit(f"{self.name}: stopped after {self.step_limit} steps") from None

    def get_compiled(self) -> Any:
        """By LangGraph, which is imported for it: once, by the first run or by who wants that one
        to be quick.
        """
        if self._compiled is None:
            self._compiled = self._compile_graph()
        return self._compiled

    def _compile_graph(self) -> Any:
        os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = (
            "false"  # no telemetry, of a library's either
        )
        from langgraph.graph import END as STOP
        from langgraph.graph import START, StateGraph

        graph: Any = StateGraph(dict)
        for function, edges in self.table.items():
            graph.add_node(get_node_name(function), _wrap_node(function, edges))
        graph.add_conditional_edges(
            START, _get_next, [get_node_name(function) for function in self.table]
        )
        for function, edges in self.table.items():
            names = {get_node_name(target) for target in edges.values()}
            graph.add_conditional_edges(
                get_node_name(function),
                _get_next,
                {name: STOP if name == END else name for name in names},
            )
        return graph.compile()


def _format_box(target: Target) -> str:
    """A node in Mermaid: its name, which may stand alone where it has no spaces."""
    if target == END:
        return "End([end])"
    name = get_node_name(target)
    return name if " " not in name else f"{name.replace(' ', '')}[{name}]"


def _get_next(box: dict[str, Any]) -> str:
    return str(box["next"])


def _wrap_node(function: Node, edges: Mapping[str, Target]) -> Any:
    from langgraph.types import StreamWriter

    async def run(
        box: dict[str, Any], config: dict[str, Any], writer: StreamWriter
    ) -> dict[str, Any]:
        detail = enter_node(get_node_name(function), writer)
        started = time.perf_counter()
        with observe_operation("node", get_node_name(function)) as this:
            label = await function(box["state"], config["configurable"]["deps"])
            box["state"].node_execution_status.setdefault(get_node_name(function), "completed")
            this.facts.update(
                action=label, status=box["state"].node_execution_status[get_node_name(function)]
            )
        seconds = time.perf_counter() - started
        step = Step(
            n=box["n"] + 1,
            node=get_node_name(function),
            action=label,
            seconds=round(seconds, 4),
            detail=detail,
        )
        after = get_node_name(edges[label])
        await config["configurable"]["done"](step, after)
        writer(step)
        return {"state": box["state"], "next": after, "n": step.n}

    # LangGraph looks at annotations by value to decide what to inject
    run.__annotations__ = {
        "box": dict,
        "config": "RunnableConfig",
        "writer": StreamWriter,
        "return": dict,
    }
    return run
