"""Programs that were written for other servers work with this one, unchanged."""

from collections.abc import Iterator

import numpy as np
import openai
import pytest
from libretranslatepy import LibreTranslateAPI

import clearhead
from clearhead.model import Model
from clearhead.tasks import complete, stream_chat

from .live_server import LiveServer, live_server

PROMPT = "Once upon a time, there was a"
MESSAGES = [{"role": "user", "content": "Tell me about a cat."}]


@pytest.fixture
def client(server: LiveServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def storyteller() -> Model:
    return clearhead.load("storyteller")


def test_models(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert {"storyteller", "translator", "reader-meaning"} <= set(names)
    assert client.models.retrieve("storyteller").id == "storyteller"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody")


@pytest.mark.parametrize("options", [{"temperature": 0}, {"temperature": 0.9, "seed": 7}, {"seed": 3, "top_p": 0.5}])
def test_a_completion_is_what_the_model_writes_alone(
    client: openai.OpenAI, storyteller: Model, options: dict[str, float]
) -> None:
    found = client.completions.create(model="storyteller", prompt=PROMPT, max_tokens=24, **options)
    expected = storyteller.complete(PROMPT, max_new_tokens=24, **options)
    assert found.choices[0].text == expected
    assert found.choices[0].finish_reason == "length"
    assert found.usage.completion_tokens == 24
    assert found.usage.prompt_tokens == len(storyteller.tokenizer.encode(PROMPT, add_special=False))


def test_a_stream_is_the_same_text_in_pieces(client: openai.OpenAI, storyteller: Model) -> None:
    stream = client.completions.create(
        model="storyteller", prompt=PROMPT, max_tokens=24, seed=7, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].text for chunk in chunks[:-1]) == storyteller.complete(
        PROMPT, max_new_tokens=24, seed=7
    )
    assert len(chunks) > 10 and chunks[-1].choices == [] and chunks[-1].usage.completion_tokens == 24


def test_several_prompts_and_several_draws(client: openai.OpenAI, storyteller: Model) -> None:
    prompts, options = [PROMPT, "The dog"], {"seed": 5, "temperature": 1.5, "n": 2}
    found = client.completions.create(model="storyteller", prompt=prompts, max_tokens=12, echo=True, **options)
    alone = complete(storyteller.loaded, prompts, max_new_tokens=12, **options)
    expected = [prompt + way.text for prompt, ways in zip(prompts, alone, strict=True) for way in ways]
    assert [choice.text for choice in found.choices] == expected
    assert [choice.index for choice in found.choices] == [0, 1, 2, 3] and len(set(expected)) == 4


def test_ids_stop_strings_and_scores(client: openai.OpenAI, storyteller: Model) -> None:
    ids = list(storyteller.tokenizer.encode(PROMPT, add_special=False).ids)
    by_ids = client.completions.create(
        model="storyteller", prompt=ids, max_tokens=16, temperature=0, stop=[" named"], logprobs=0
    )
    choice = by_ids.choices[0]
    assert choice.finish_reason == "stop" and " named" not in choice.text
    assert choice.text == storyteller.complete(PROMPT, max_new_tokens=16, temperature=0, stop=[" named"])
    assert all(score <= 0 for score in choice.logprobs.token_logprobs)


def test_a_chat_and_its_stream(client: openai.OpenAI, storyteller: Model) -> None:
    options = {"max_completion_tokens": 24, "seed": 2}
    whole = client.chat.completions.create(model="storyteller", messages=MESSAGES, logprobs=True, **options)
    expected = storyteller.chat(MESSAGES, max_new_tokens=24, seed=2)
    assert whole.choices[0].message.content == expected
    assert whole.choices[0].message.role == "assistant"
    assert len(whole.choices[0].logprobs.content) == whole.usage.completion_tokens
    chunks = list(
        client.chat.completions.create(
            model="storyteller", messages=MESSAGES, stream=True, stream_options={"include_usage": True}, **options
        )
    )
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(pieces) == expected == "".join(stream_chat(storyteller.loaded, MESSAGES, max_new_tokens=24, seed=2))
    assert chunks[-1].usage.total_tokens == whole.usage.total_tokens


def test_vectors_as_numbers_and_in_base64(client: openai.OpenAI) -> None:
    texts = ["A cat sat on the mat.", "Stocks fell.", "A kitten slept."]
    expected = clearhead.load("reader-meaning").embed(texts)
    # Unless it is told otherwise, the client asks for base64 and decodes it itself.
    for options in ({}, {"encoding_format": "float"}):
        found = client.embeddings.create(model="reader-meaning", input=texts, **options)
        vectors = np.array([one.embedding for one in found.data], dtype=np.float32)
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
        assert found.usage.prompt_tokens > 0


def test_errors_are_told_in_the_clients_own_words(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="no such model"):
        client.completions.create(model="../storyteller", prompt=PROMPT)
    with pytest.raises(openai.BadRequestError, match="temperature") as caught:
        client.completions.create(model="storyteller", prompt=PROMPT, temperature=9)
    assert caught.value.param == "temperature"
    with pytest.raises(openai.BadRequestError, match="cannot complete"):
        client.completions.create(model="reader", prompt=PROMPT)
    with pytest.raises(openai.BadRequestError, match="context"):
        client.completions.create(model="storyteller", prompt=PROMPT, max_tokens=4000)
    with pytest.raises(openai.BadRequestError, match="tools"):
        client.chat.completions.create(
            model="storyteller",
            messages=MESSAGES,
            tools=[{"type": "function", "function": {"name": "x", "parameters": {}}}],
        )


def test_a_client_of_libretranslate(server: LiveServer) -> None:
    api = LibreTranslateAPI(server.url)
    (english,) = api.languages()
    assert english["code"] == "en" and "fr" in english["targets"]
    translator = clearhead.load("translator")
    for text in ("The cat sat on the mat.", "I like trains.\n\nDo you & I?", ""):
        assert api.translate(text, "en", "fr") == translator.translate(text, to="fr")


def test_a_client_of_libretranslate_with_a_key() -> None:
    secret = "a-long-enough-secret"  # noqa: S105
    with live_server(environment={"CLEARHEAD_TOKENS": secret}) as server:
        assert LibreTranslateAPI(server.url, api_key=secret).translate("Good morning.", "en", "fr")
        with pytest.raises(Exception, match="401"):
            LibreTranslateAPI(server.url, api_key="another-long-secret").translate("Good morning.", "en", "fr")
