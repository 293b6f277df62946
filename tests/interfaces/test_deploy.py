"""What deploy/ asks Prometheus for is what a server tells: names of metrics and of their labels;
and its parts fit each other.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from tests.conftest import REPOSITORY

from citewell.config import Settings
from citewell.interfaces.cli.commands import COMMANDS
from citewell.interfaces.http.server.metrics import Metrics

DEPLOY = REPOSITORY / "deploy"
NAME = re.compile(r"\b((?:citewell|process)_\w+)(?:\{([^}]*)\})?")
LABELS = re.compile(r"\bby \(([^)]*)\)")


def expressions() -> Iterator[str]:
    """Every query of the dashboard and of the alerts."""
    board = json.loads((DEPLOY / "grafana.json").read_text("utf-8"))
    for panel in board["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    alerts = yaml.safe_load((DEPLOY / "alerts.yaml").read_text("utf-8"))
    for group in alerts["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


def test_metrics_and_labels_are_there() -> None:
    registry = Metrics().registry
    series = {
        name: set(metric._labelnames)
        for metric in registry._collector_to_names
        for name in registry._collector_to_names[metric]
        if hasattr(metric, "_labelnames")
    }
    known = set(series) | set(registry._names_to_collectors)
    asked = list(expressions())
    assert len(asked) > 15
    for expression in asked:
        names = NAME.findall(expression)
        assert names, expression
        labels: set[str] = set()
        for name, told in names:
            assert name in known, name
            labels |= series.get(name, set())
            wanted = set(re.findall(r"(\w+)\s*[=!]~?", told))
            assert wanted <= series.get(name, set()), expression
        for found in LABELS.findall(expression):
            assert set(re.split(r",\s*", found)) - {"le"} <= labels, expression


def test_panels_do_not_overlap() -> None:
    board = json.loads((DEPLOY / "grafana.json").read_text("utf-8"))
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(places)) == len(places)
    assert all(panel["title"] and panel["description"] for panel in board["panels"])


@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool on this machine")
def test_prometheus_takes_the_alerts() -> None:
    subprocess.run(["promtool", "check", "rules", str(DEPLOY / "alerts.yaml")], check=True)


def list_environments() -> Iterator[dict[str, str]]:
    """What compose.yaml and the manifests set for Citewell."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    yield from (
        service["environment"]
        for service in compose["services"].values()
        if service["image"] == "citewell"
    )
    for item in list_manifests():
        if item["kind"] == "ConfigMap":
            yield item["data"]


def list_manifests() -> list[dict[str, Any]]:
    manifests = yaml.safe_load((DEPLOY / "kubernetes" / "citewell.yaml").read_text("utf-8"))
    items: list[dict[str, Any]] = manifests["items"]
    return items


def test_settings_of_the_manifests_are_there() -> None:
    """Each CITEWELL_ name is a setting, and each container's command one of ours."""
    for environment in list_environments():
        ours = {name for name in environment if name.startswith("CITEWELL_")}
        assert len(ours) > 3
        for name in ours:
            first, *rest = name.removeprefix("CITEWELL_").lower().split("__")
            field = Settings.model_fields[first]
            for part in rest:
                assert field.annotation is not None
                field = field.annotation.model_fields[part]
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    commands = [each["command"][0] for each in compose["services"].values() if "build" in each]
    for item in list_manifests():
        if item["kind"] == "Deployment":
            pod = item["spec"]["template"]["spec"]
            assert pod["enableServiceLinks"] is False  # CITEWELL_PORT=tcp://... of the Service
            parts = pod["containers"] + pod.get("initContainers", [])
            commands += [part["args"][0] for part in parts]
            assert all(part["securityContext"]["readOnlyRootFilesystem"] for part in parts)
    assert set(commands) <= set(COMMANDS)
    assert len(commands) > 6


def test_models_server_answers_to_the_name_it_is_asked_by() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    models = compose["services"]["models"]["environment"]
    asked = [(models["CITEWELL_MODELS_URL"], models["CITEWELL_ACCESS__HOSTS"])]
    items = {(each["kind"], each["metadata"]["name"]): each for each in list_manifests()}
    pod = items["Deployment", "citewell-models"]["spec"]["template"]["spec"]
    (hosts,) = [each["value"] for each in pod["containers"][0]["env"]]
    asked += [(items["ConfigMap", "citewell"]["data"]["CITEWELL_MODELS_URL"], hosts)]
    assert [urlsplit(url).hostname for url, _ in asked] == [hosts for _, hosts in asked]


def test_docker_can_start_what_the_compose_file_says() -> None:
    """It writes secrets of variables into no read-only container, and gives the address of the
    proxy to another where it is one of the range.
    """
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    assert [list(each) for each in compose["secrets"].values()] == [["file"]]
    (network,) = compose["networks"]["default"]["ipam"]["config"]
    proxy = compose["services"]["proxy"]["networks"]["default"]["ipv4_address"]
    assert ip_address(proxy) in ip_network(network["subnet"])
    assert ip_address(proxy) not in ip_network(network["ip_range"])
    assert proxy == compose["services"]["server"]["environment"]["CITEWELL_ACCESS__PROXIES"]


def test_manifests_select_what_they_made() -> None:
    """Services, budgets and scales name the labels and deployments of the same file."""
    items = list_manifests()
    deployments = {each["metadata"]["name"]: each for each in items if each["kind"] == "Deployment"}
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in deployments.values()]
    for item in items:
        spec = item.get("spec", {})
        if item["kind"] == "HorizontalPodAutoscaler":
            assert spec["scaleTargetRef"]["name"] in deployments
        if item["kind"] in {"Service", "PodDisruptionBudget"}:
            wanted = spec["selector"].get("matchLabels", spec["selector"])
            assert wanted in labels
