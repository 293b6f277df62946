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
from dataclasses import fields
from itertools import count
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
    """What every agent's state has: how each node ended, by its spec name, failed ones too."""

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
    """For runs whose progress is not stored."""


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
    """The spec name of the node that is running in this task; empty outside of nodes."""
    return _name.get()


def enter_node(name: str, sink: Callable[[Any], None]) -> dict[str, Any]:
    """Mark the begin of a node in this task: where its events go, and where its details are noted.
    For `Graph` and `step_runner.py`.
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
        are done. `done` is awaited after every node: it may store the state, from which the run can
        be resumed; if it raises, the step is not over. Raises StepLimit when more than `step_limit`
        nodes have run.
        """
        from langgraph.errors import GraphRecursionError  # heavy: only a run needs it

        first = start or get_node_name(next(iter(self.table)))
        if first not in {get_node_name(function) for function in self.table}:
            raise WiringError(f"{self.name}: there is no node {first} to start from")
        run = {"state": state, "deps": deps, "done": done, "start": first, "steps": count(n + 1)}
        config = {"recursion_limit": self.step_limit, "configurable": run}
        stream = self.get_compiled().astream(read_fields(state), config, stream_mode="custom")
        try:
            async for event in stream:
                yield event
        except GraphRecursionError:
            raise StepLimit(f"{self.name}: stopped after {self.step_limit} steps") from None

    @property
    def state_type(self) -> type[S]:
        """The dataclass that the nodes share: the type of the first node's first argument."""
        hints = get_type_hints(next(iter(self.table)))
        found: type[S] = next(iter(hints.values()))
        return found

    def get_compiled(self) -> Any:
        """The graph compiled by LangGraph, over the agent's own state, so that LangGraph's tools
        can draw it and step through it. Imports LangGraph on first use, which takes a while.

        Callers that do not use `run` pass the nodes' `deps` in `config["configurable"]`, and
        optionally `start` (a node's name) and `done`.
        """
        if self._compiled is None:
            self._compiled = self.build_state_graph().compile()
        return self._compiled

    def build_state_graph(self) -> Any:
        """LangGraph's `StateGraph`, for callers that compile it with their own checkpointer."""
        os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = (
            "false"  # no telemetry, of a library's either
        )
        from langgraph.graph import END as STOP
        from langgraph.graph import START, StateGraph

        names = [get_node_name(function) for function in self.table]
        graph: Any = StateGraph(self.state_type)
        for function, edges in self.table.items():
            labels: dict[str, str] = {}
            for label, target in edges.items():
                name = STOP if target == END else get_node_name(target)
                labels[name] = f"{labels[name]} | {label}" if name in labels else label
            wrapped = _wrap_node(function, edges, self.state_type)
            graph.add_node(get_node_name(function), wrapped, destinations=labels)
        graph.add_conditional_edges(START, _choose_start(names[0]), names)
        return graph


def read_fields(state: Any) -> dict[str, Any]:
    """A state's fields by their names, as LangGraph keeps them."""
    return {field.name: getattr(state, field.name) for field in fields(state)}


def _format_box(target: Target) -> str:
    """A node in Mermaid: its name, which may stand alone where it has no spaces."""
    if target == END:
        return "End([end])"
    name = get_node_name(target)
    return name if " " not in name else f"{name.replace(' ', '')}[{name}]"


def _choose_start(first: str) -> Any:
    from langchain_core.runnables import RunnableConfig

    def choose_start(_: Any, config: Any) -> str:
        return str(config["configurable"].get("start", first))

    # LangGraph looks at annotations by value to decide what to inject
    choose_start.__annotations__ = {"config": RunnableConfig, "return": str}
    return choose_start


def _wrap_node(function: Node, edges: Mapping[str, Target], state_type: type) -> Any:
    from langgraph.graph import END as STOP
    from langgraph.types import Command, StreamWriter

    name = get_node_name(function)

    async def run(state: Any, config: dict[str, Any], writer: StreamWriter) -> Any:
        given = config["configurable"]
        state = given.get("state", state)  # of `Graph.run`: changed in place
        detail = enter_node(name, writer)
        started = time.perf_counter()
        with observe_operation("node", name) as this:
            label = await function(state, given["deps"])
            state.node_execution_status.setdefault(name, "completed")
            this.facts.update(action=label, status=state.node_execution_status[name])
        seconds = round(time.perf_counter() - started, 4)
        n = next(given["steps"]) if "steps" in given else len(state.node_execution_status)
        step = Step(n=n, node=name, action=label, seconds=seconds, detail=detail)
        after = get_node_name(edges[label])
        await given.get("done", _ignore_step)(step, after)
        writer(step)
        return Command(update=read_fields(state), goto=STOP if after == END else after)

    # LangGraph looks at annotations by value to decide what to inject
    run.__annotations__ = {
        "state": state_type,
        "config": "RunnableConfig",
        "writer": StreamWriter,
        "return": Command,
    }
    return run
