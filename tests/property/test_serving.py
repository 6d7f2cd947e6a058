"""A request that joins a running batch at any moment is answered as if it were alone."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import Cell, RecurrentAttention, RecurrentConfig, Size, architecture
from clearhead.decoding import DecodingSettings, Event
from clearhead.engine import Engine, Overflow, Request
from clearhead.engine.kernels import ready
from clearhead.engine.serving import Failure, Limits
from clearhead.engine.serving.jobs import Asked, new_job
from clearhead.engine.serving.ticket import Ticket
from clearhead.engine.serving.worker import Worker
from clearhead.errors import Withdrawn
from clearhead.models import DecoderOnly, EncoderDecoder, build

N_PIECES = 13
_LAST_MOMENT = 6
_moments = st.integers(0, _LAST_MOMENT)


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    """With kernels, which other tests in the same process may have loaded or not."""
    assert ready.load() is not None


@st.composite
def decoding_settings(draw: st.DrawFn) -> dict[str, object]:
    """Greedy, drawn, penalised or with beams; ended by ids or by length."""
    asked: dict[str, object] = {
        "max_new_tokens": draw(st.integers(1, 6)),
        "end_ids": tuple(draw(st.sampled_from([(), (3,), (2, 7)]))),
    }
    kind = draw(st.sampled_from(["greedy", "drawn", "penalised", "beams"]))
    if kind == "drawn":
        asked |= {"sample": True, "seed": draw(st.integers(0, 99)), "top_k": draw(st.sampled_from([0, 4]))}
        asked |= {"temperature": draw(st.sampled_from([0.7, 1.5])), "top_p": draw(st.sampled_from([1.0, 0.9]))}
    elif kind == "penalised":
        asked |= {"repetition_penalty": 1.3, "no_repeat_ngram": 3, "min_new_tokens": 2}
    elif kind == "beams":
        beams = draw(st.integers(2, 3))
        asked |= {"beams": beams, "n_best": draw(st.integers(1, beams))}
    return asked


_ids = st.lists(st.integers(0, N_PIECES - 1), min_size=1, max_size=6)
_asked = st.lists(
    st.tuples(_ids, st.sampled_from([(), (4,), (9, 1)]), decoding_settings(), _moments), min_size=1, max_size=6
)
limits = st.builds(
    Limits,
    most_rows=st.integers(3, 6),
    most_cache_tokens=st.sampled_from([70, 120, 10_000]),
    prompt_tokens=st.sampled_from([1, 4, 12, 100]),
    slice_tokens=st.sampled_from([1, 2, 50]),
)


def served(engine: Engine, data: st.DataObject, **settings: object) -> None:
    """Requests come and are withdrawn at drawn turns; those that stay get what the engine gives them alone."""
    asked: list[tuple[Request, int]] = []
    for place, (ids, prefix, drawn, moment) in enumerate(data.draw(_asked, "requests")):
        begun = () if isinstance(engine.network, DecoderOnly) else prefix
        made = DecodingSettings(**drawn | settings)
        asked.append((Request(ids=tuple(ids), prefix=begun, settings=made, draw=place), moment))
    withdrawn = data.draw(st.dictionaries(st.integers(0, len(asked) - 1), _moments, max_size=2), "withdrawn")
    bounds = data.draw(limits, "limits")
    worker = Worker(engine=engine, limits=bounds)
    heard: list[list[Event | Failure]] = [[] for _ in asked]
    tickets = [Ticket(number=place, wake=lambda: None) for place in range(len(asked))]
    turn = 0
    with torch.inference_mode():
        while turn <= _LAST_MOMENT or not worker.idle:
            for place, (request, moment) in enumerate(asked):
                if moment == turn:
                    job = new_job(
                        Asked(
                            request=engine.fitted(request),
                            ticket=tickets[place],
                            notify=heard[place].append,
                            scored=True,
                            client=str(place % 2),
                        ),
                        engine,
                    )
                    worker.admission.fresh.push(job, client=job.asked.client)
                if withdrawn.get(place) == turn:
                    tickets[place].cancel()
            worker.turn()
            assert worker.load.rows <= bounds.most_rows
            turn += 1
            assert turn < 500, "somebody waits for ever"
    assert (worker.load.rows, worker.load.running, worker.load.waiting, worker.load.cache_tokens) == (0, 0, 0, 0)
    for (request, _), notes, ticket in zip(asked, heard, tickets, strict=True):
        last = [note for note in notes if isinstance(note, Failure) or note.finish is not None]
        assert last == notes[-1:]
        if isinstance(notes[-1], Failure):
            assert isinstance(notes[-1].error, Withdrawn) and ticket.withdrawn
            continue
        alone = engine.generate([request], scored=True)[0]
        assert ticket.reply is not None
        assert [answer.ids for answer in ticket.reply.answers] == [answer.ids for answer in alone.answers]
        assert [answer.finish for answer in ticket.reply.answers] == [answer.finish for answer in alone.answers]
        scores = [answer.score for answer in alone.answers]
        assert [answer.score for answer in ticket.reply.answers] == pytest.approx(scores, abs=1e-6)
        if request.settings.beams == 1:
            assert tuple(note.id for note in notes) == alone.best.ids


@given(data=st.data())
@settings(max_examples=2, deadline=None)
def test_a_decoder_serves_many_as_if_each_were_alone(
    decoder_only: Callable[[st.DataObject], DecoderOnly], data: st.DataObject
) -> None:
    served(Engine(network=decoder_only(data)), data)


@given(data=st.data())
@settings(max_examples=2, deadline=None)
def test_an_encoder_decoder_serves_many_as_if_each_were_alone(
    encoder_decoder: Callable[[st.DataObject], EncoderDecoder], data: st.DataObject
) -> None:
    served(Engine(network=encoder_decoder(data), start_id=0), data)


@pytest.mark.parametrize("attention", RecurrentAttention)
@given(data=st.data())
@settings(max_examples=2, deadline=None)
def test_a_recurrent_model_serves_many_as_if_each_were_alone(
    attention: RecurrentAttention, data: st.DataObject
) -> None:
    cell = data.draw(st.sampled_from(Cell), "cell")
    config = RecurrentConfig(vocab_size=N_PIECES, width=8, n_layers=2, cell=cell, attention=attention)
    served(Engine(network=build(config, seed=0).double(), start_id=0), data)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
@given(data=st.data())
@settings(max_examples=2, deadline=None)
def test_texts_that_outgrow_the_context_slide_as_if_alone(name: str, data: st.DataObject) -> None:
    size = Size(n_layers=2, width=8, n_heads=2, feedforward_width=5, max_length=12, dropout=0.0)
    network = build(architecture(name, size=size, vocab_size=N_PIECES), seed=1).double()
    served(Engine(network=network, overflow=Overflow.SLIDE), data, max_new_tokens=14)
