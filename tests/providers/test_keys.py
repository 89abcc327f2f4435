"""Which key goes to which server."""

from __future__ import annotations

from typing import Any

import pytest

from agent_tui.core.errors import AuthenticationError, ConfigError
from agent_tui.core.model import Model
from agent_tui.providers.keys import (
    KEY_NAMES,
    OWN_HOSTS,
    clean_key,
    key_for,
    key_from_environment,
    named_key,
    require_key,
)

ENVIRON = {"OPENAI_API_KEY": " sk-1\n", "LAB_KEY": "lab-1"}


def model(base_url: str, provider: str = "openai", **compat: Any) -> Model:
    return Model(provider, "m", base_url=base_url, compat=compat)


def test_white_space_around_a_key_is_removed() -> None:
    assert clean_key("\t sk-1 \r\n") == "sk-1"
    assert key_from_environment("openai", ENVIRON) == "sk-1"
    assert named_key("LAB_KEY", ENVIRON) == "lab-1"


def test_an_empty_variable_is_no_key() -> None:
    assert key_from_environment("openai", {"OPENAI_API_KEY": " \n"}) is None
    assert named_key("LAB_KEY", {}) is None
    assert key_from_environment("nobody", ENVIRON) is None


@pytest.mark.parametrize("key", ["q\nw", "q w", "ä", "q\x00w"])
def test_an_illegal_key_is_refused_by_the_name_of_its_variable(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        key_from_environment("openai", {"OPENAI_API_KEY": key})

    assert "OPENAI_API_KEY" in caught.value.message
    assert key not in caught.value.message


def test_a_key_goes_to_its_own_providers_host_only() -> None:
    assert key_for(model("https://api.openai.com/v1"), ENVIRON) == "sk-1"
    assert key_for(model("https://evil.example/v1"), ENVIRON) is None
    assert key_for(model("http://127.0.0.1:8080/v1", "custom"), ENVIRON) is None


def test_the_address_beside_the_key_in_the_environment_gets_it() -> None:
    environ = ENVIRON | {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1/"}

    assert key_for(model("http://127.0.0.1:9/v1"), environ) == "sk-1"
    assert key_for(model("http://other.example/v1"), environ) is None
    assert key_for(model("http://127.0.0.1:9/v1", "groq"), environ) is None


def test_a_named_variable_goes_anywhere() -> None:
    target = model("http://anywhere.example/v1", "custom", api_key_env="LAB_KEY")

    assert key_for(target, ENVIRON) == "lab-1"


def test_the_second_variable_is_tried_after_the_first() -> None:
    assert key_from_environment("gemini", {"GOOGLE_API_KEY": "g"}) == "g"


def test_a_hosted_provider_without_key_says_which_variable_to_set() -> None:
    with pytest.raises(AuthenticationError, match="set GROQ_API_KEY"):
        require_key(model("https://api.groq.com/openai/v1", "groq"), {})


def test_a_local_server_needs_no_key() -> None:
    require_key(model("http://127.0.0.1:11434/v1", "ollama"), {})


def test_every_provider_with_a_key_has_a_host_it_goes_to() -> None:
    assert set(KEY_NAMES) == set(OWN_HOSTS)
