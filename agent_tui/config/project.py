"""What a project's own settings may say: less than the person's.

They come with the folder, and a later version of it may say something else. A yes to the folder is
no yes to sending a key anywhere, to running without any question, or to spending more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_tui.config.mcp import with_project_servers
from agent_tui.config.rules import RuleSettings
from agent_tui.config.settings import LIMITS, ModelSettings, ProviderSettings

_NOT_IN_PROVIDERS = (
    "api_key_env",
    "api_key_command",
    "ca_bundle",
    "insecure_skip_verify",
)
"""What decides where a key comes from, and whether it is safe on its way."""


def with_project(
    user: Mapping[str, Any], project: Mapping[str, Any], file: Path, problems: list[str]
) -> dict[str, Any]:
    """`user` with `project` laid over it; what a project may not say becomes a problem."""
    found = {**user, **project}
    if project.get("mode") == "full-auto":
        problems.append(f"{file}: mode = 'full-auto' is not taken from a project; say --mode")
        found["mode"] = user.get("mode")
    if "keys" in project:
        problems.append(f"{file}: [keys] is not taken from a project")
        found["keys"] = user.get("keys")
    found["sandbox"] = user.get("sandbox") or project.get("sandbox")
    found["sandbox_network"] = user.get("sandbox_network")
    for key in ("max_iterations", *LIMITS):
        said = [source[key] for source in (user, project) if source.get(key) is not None]
        found[key] = min(said, default=None)
    own: Mapping[str, ProviderSettings] = user.get("providers", {})
    found["providers"] = {**own, **_providers(project, own, file, problems)}
    found["hooks"] = (*user.get("hooks", ()), *project.get("hooks", ()))
    found["mcp_servers"] = with_project_servers(
        user.get("mcp_servers", {}), project.get("mcp_servers", {}), file, problems
    )
    rules: RuleSettings = user.get("rules", RuleSettings())
    found["rules"] = rules.joined(project.get("rules", RuleSettings()))
    return {key: value for key, value in found.items() if value is not None}


def _providers(
    project: Mapping[str, Any],
    own: Mapping[str, ProviderSettings],
    file: Path,
    problems: list[str],
) -> dict[str, ProviderSettings]:
    brought: Mapping[str, ProviderSettings] = project.get("providers", {})
    problems += [
        f"{file}: providers.{name} is your own provider and stays as it is"
        for name in brought
        if name in own
    ]
    return {
        name: _keyless(provider, file, problems)
        for name, provider in brought.items()
        if name not in own
    }


def _keyless(provider: ProviderSettings, file: Path, problems: list[str]) -> ProviderSettings:
    """The provider without anything about keys and certificates."""
    said = [key for key in _NOT_IN_PROVIDERS if getattr(provider, key) is not None]
    maps = (provider.compat, *(model.compat for model in provider.models))
    said += [f"compat.{key}" for key in _NOT_IN_PROVIDERS if any(key in found for found in maps)]
    name = provider.name
    problems += [f"{file}: providers.{name}.{key} is not taken from a project" for key in said]
    return replace(
        provider,
        api_key_env=None,
        api_key_command=None,
        ca_bundle=None,
        insecure_skip_verify=None,
        compat=_without(provider.compat),
        models=tuple(_keyless_model(model) for model in provider.models),
        origin="project",
    )


def _keyless_model(model: ModelSettings) -> ModelSettings:
    return replace(model, compat=_without(model.compat))


def _without(compat: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in compat.items() if key not in _NOT_IN_PROVIDERS}
