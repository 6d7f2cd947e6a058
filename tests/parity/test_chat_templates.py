"""Conversations as the reference writes them."""

import json
from pathlib import Path
from typing import Any

import pytest
import transformers

from clearhead.text import SpecialTokens, load_tokenizer, train_tokenizer

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] | trim "
    "+ '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
INSTRUCT = """
{%- if messages[0]['role'] == 'system' %}
    {%- set system = '<<SYS>>\n' ~ messages[0]['content'] ~ '\n<</SYS>>\n\n' %}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set system = '' %}
    {%- set rest = messages %}
{%- endif %}
{%- for message in rest %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('user and assistant must take turns') }}
    {%- endif %}
    {%- if message['role'] == 'user' %}
        {{- bos_token + '[INST] ' + (system if loop.first else '') + message.content.strip() + ' [/INST]' }}
    {%- else %}
        {% generation %}{{ ' ' + message.content + ' ' + eos_token }}{% endgeneration %}
    {%- endif %}
{%- endfor %}
"""
FEATURES = """
{%- macro card(name, value='?') -%}{{ name|upper }}={{ value }};{%- endmacro -%}
{%- set ns = namespace(n=0, names=[], last='') -%}
{%- for message in messages -%}
    {%- if message.role == 'skip' %}{% continue %}{% endif -%}
    {%- set ns.n = ns.n + 1 -%}
    {%- set ns.last = ns.last ~ loop.length ~ loop.last -%}
    {{ card(message.role, message.content | replace('a', 'A')) }}
    {%- if message.parts is defined and message.parts is iterable %}
        {%- for part in message.parts | selectattr('kind', 'equalto', 'text') %}[{{ part.text | e }}]{% endfor %}
    {%- endif %}
    {%- for key, value in (message.extra or {}) | items if value is not none %} {{ key }}:{{ value }}{% endfor %}
    {{- message | tojson }}{{ (message.extra or none) | tojson(indent=2) }}
{%- else -%}
    nothing
{%- endfor -%}
{{ ns.n }} {{ ns.last }} {{ 'x' * 3 }} {{ '%' in 'a%b' }} {{ tools is none }} {{ unk_token }}|{{ missing }}|
{{ dict(a=1).items() | list }} {{ [3, 1, 2] | sort | join(', ') }} {{ range(4) | list }} {{ 7 // 2 + 2 ** 5 }}
{{ messages | map(attribute='role') | join('/') }} {{ 'a,b'.split(',') }} {{ "a\nb" | indent(2) }}
{% for a in range(3) %}{% for b in range(a) -%}
{{ a }}{{ b }}{% endfor %}{% if a == 1 %}{% break %}{% endif %}{% endfor %}
{{ strftime_now('%Y') | length }}
"""
TURNS: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "  नमस्ते <b>there</b> \n", "extra": {"z": 1, "ü": None, "l": [1.5, True]}},
    {"role": "assistant", "content": "a banana", "parts": [{"kind": "text", "text": "<&>"}, {"kind": "image"}]},
    {"role": "user", "content": "", "extra": None},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chat")
    special = SpecialTokens(unknown="<unk>", start="<s>", end="</s>")
    train_tokenizer(["a cat sat on a mat"], kind="word", special=special).save(folder)
    return folder


@pytest.mark.parametrize("prompt", [True, False])
@pytest.mark.parametrize("template", [CHATML, INSTRUCT, FEATURES], ids=["chatml", "instruct", "features"])
def test_a_conversation_is_the_references(folder: Path, template: str, prompt: bool) -> None:
    for in_settings in (True, False):
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        settings.pop("chat_template", None)
        (folder / "chat_template.jinja").unlink(missing_ok=True)
        if in_settings:
            settings["chat_template"] = template
        else:
            (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        ours = load_tokenizer(folder)
        theirs = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
        for messages in (TURNS, TURNS[:2], TURNS[1:2]):
            expected = theirs.apply_chat_template(messages, tokenize=False, add_generation_prompt=prompt)
            assert ours.chat(messages, add_generation_prompt=prompt) == expected
