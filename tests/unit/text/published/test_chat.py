"""Conversations, and templates that were made to break their reader."""

import json
import time
from pathlib import Path

import pytest
from jaxtyping import config

from clearhead.errors import TextError
from clearhead.text import Tokenizer, load_tokenizer, train_tokenizer

HELLO = [{"role": "user", "content": "a cat"}]
PLAIN = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}bot:{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(["a cat"], kind="word")


def said(tokenizer: Tokenizer, template: str) -> str:
    tokenizer.chat_template = template
    return tokenizer.chat(HELLO)


def test_a_conversation(tokenizer: Tokenizer) -> None:
    tokenizer.chat_template = PLAIN
    assert tokenizer.chat(HELLO) == "user: a cat\nbot:"
    assert tokenizer.chat(HELLO, add_generation_prompt=False) == "user: a cat\n"
    assert said(tokenizer, "{{ bos_token }}{{ eos_token }}{{ pad_token }}") == "<s></s><pad>"


def test_a_template_is_saved_with_its_tokenizer(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.chat_template = PLAIN
    tokenizer.save(tmp_path)
    assert load_tokenizer(tmp_path).chat_template == PLAIN
    assert Tokenizer.load(tmp_path).chat(HELLO) == tokenizer.chat(HELLO)


def test_one_of_several_templates_is_the_usual_one(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.chat_template = None
    tokenizer.save(tmp_path)
    several = [{"name": "tools", "template": "x"}, {"name": "default", "template": "y"}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": several}))
    assert load_tokenizer(tmp_path).chat(HELLO) == "y"
    for odd in (5, {"default": "x"}):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": odd}))
        with pytest.raises(TextError, match="not text"):
            load_tokenizer(tmp_path)
    (tmp_path / "chat_template.jinja").write_bytes(b"\xff")
    with pytest.raises(TextError, match=r"chat_template\.jinja"):
        load_tokenizer(tmp_path)


def test_a_tokenizer_without_a_template(tokenizer: Tokenizer) -> None:
    tokenizer.chat_template = None
    with pytest.raises(TextError, match="without a chat template"):
        tokenizer.chat(HELLO)


def test_messages_that_are_none(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer.chat_template = PLAIN
    monkeypatch.setattr(config, "jaxtyping_disable", True)
    for odd in ([], {}, "hello", [{"content": object()}], [{"content": "\ud800"}]):
        with pytest.raises(TextError):
            tokenizer.chat(odd)  # pyright: ignore[reportArgumentType]


def test_a_template_says_why_it_refuses(tokenizer: Tokenizer) -> None:
    with pytest.raises(TextError, match="turns, please"):
        said(tokenizer, "{{ raise_exception('turns, please') }}")


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ raise_exception.__globals__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ (messages|attr('__class__')).mro() }}",
        "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
        "{{ namespace(__init__=1) }}",
        "{{ lipsum.__globals__ }}",
        "{% include 'other' %}",
        "{% import 'os' as os %}",
        "{{ '{0.__class__}'.format(messages) }}",
    ],
)
def test_internals_are_out_of_reach(tokenizer: Tokenizer, template: str) -> None:
    try:
        text = said(tokenizer, template)
    except TextError:
        return
    assert text == ""  # what is out of reach is undefined, and undefined prints nothing


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ range(10 ** 12) | list }}",
        "{{ 'a' * 10 ** 10 }}",
        "{{ [0] * 10 ** 10 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{% set ns = namespace(x='ab') %}{% for a in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for a in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=[1]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
        "{{ ns.x | tojson }}",
        "{% set ns = namespace(x='ab') %}{% for a in range(60) %}{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}"
        "{% set ns.x = y %}{% endfor %}",
        "{% set ns = namespace(x=3) %}{% for a in range(60) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
        "{% set x = 'a' * 4000000 %}{{ x.replace('a', x) }}",
        "{% set x = 'a' * 4000000 %}{{ x | replace('a', x) }}",
        "{% set x = 'a' * 4000000 %}{{ x | join(x) }}",
        "{% set x = 'a' * 4000000 %}{{ x.join([x] * 1000) }}",
        "{{ ('\n' * 4000000) | indent(100000) }}",
        "{{ 'x'.center(10 ** 10) }}",
        "{{ 'x' | center(10 ** 10) }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ '{:>9999999999}'.format(1) }}",
        "{{ '%9999999999d' | format(1) }}",
        "{{ strftime_now('%9999999999Y') }}",
        "{{ lipsum(10 ** 5) }}",
        "{{ 1 / 0 }}",
        "{{ messages[99].role.x.y }}",
        "{% if %}",
        "{% for %}" * 500,
        "{{ " + "(" * 2000 + ")" * 2000 + " }}",
        "{% if 1 %}" * 300 + "{% endif %}" * 300,
    ],
)
def test_what_never_ends_is_ended(tokenizer: Tokenizer, template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "jaxtyping_disable", True)  # at the speed of a user's
    start = time.perf_counter()
    with pytest.raises(TextError, match="chat template"):
        said(tokenizer, template)
    assert time.perf_counter() - start < 20


def test_a_long_conversation_is_within_bounds(tokenizer: Tokenizer) -> None:
    tokenizer.chat_template = PLAIN
    messages = [{"role": "user", "content": "a line of text: 2024 % {x} " * 20}] * 2000
    assert len(tokenizer.chat(messages)) > 1_000_000
