"""Conversations, with a template and without."""

import pytest

from clearhead.errors import TextError
from clearhead.tasks import Loaded, chat, stream_chat
from clearhead.tasks.conversation import chat_prompt
from clearhead.testing import ByteTokenizer

from .conftest import Make

TALK = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]
TEMPLATE = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"


def test_a_template_is_followed(writer: Make) -> None:
    loaded = writer("llama")
    loaded.tokenizer.chat_template = TEMPLATE
    ids = chat_prompt(loaded, TALK)
    assert ids[0] == ByteTokenizer().special.start
    assert loaded.tokenizer.decode(ids) == "[system]Be kind.[user]Hi[assistant]"


def test_without_a_template_it_is_a_dialogue(writer: Make) -> None:
    loaded = writer("llama")
    assert loaded.tokenizer.decode(chat_prompt(loaded, TALK)) == "Be kind.\nUser: Hi\nAssistant:"
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": " there"}]}]
    assert loaded.tokenizer.decode(chat_prompt(loaded, parts)) == "User: Hi there\nAssistant:"
    flan = writer("flan-t5")
    assert flan.tokenizer.decode(chat_prompt(flan, TALK[1:])) == "Hi"


def test_a_stream_tells_the_same_as_the_whole(writer: Make) -> None:
    loaded = writer("gpt2", overflow="slide")
    options = {"seed": 2, "max_new_tokens": 12}
    whole = chat(loaded, TALK, **options)
    assert "".join(stream_chat(loaded, TALK, **options)) == whole.text
    assert whole.text == whole.text.lstrip()


@pytest.mark.parametrize("messages", [[], [{"role": "user"}], [{"content": "x"}], [{"role": "user", "content": 4}]])
def test_what_is_no_message_is_refused(writer: Make, messages: object) -> None:
    loaded: Loaded = writer("gpt2")
    with pytest.raises(TextError):
        chat_prompt(loaded, messages)
