import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
import torch

from clearhead.config import HeadKind
from clearhead.engine import read
from clearhead.engine.serving import QueuedEncoder, ReadingQueue
from clearhead.errors import Busy, Closed, DecodingError, TextError
from clearhead.models import EncoderOnly
from clearhead.testing import TinyModel

TINY = TinyModel("bert")
TEXTS = [TINY.tokenizer.encode(text) for text in ["a", "some words here", "ab", "four", "and some more words"]]


def network() -> EncoderOnly:
    assert isinstance(TINY.model, EncoderOnly)
    return TINY.model.eval()


@pytest.fixture
def queue() -> Iterator[ReadingQueue]:
    opened = ReadingQueue(network=network(), moment=0.05)
    yield opened
    opened.close()


def test_texts_of_many_threads_are_read_together_as_if_alone(queue: ReadingQueue) -> None:
    answers: dict[int, Future] = {}
    rows: list[int] = []
    handle = network().encoder.register_forward_pre_hook(lambda _, inputs: rows.append(inputs[0].shape[0]))

    def ask(place: int) -> None:
        answers[place] = queue.submit(TEXTS[place].ids, segments=TEXTS[place].segments, client=str(place))

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(TEXTS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {place: answer.result(60) for place, answer in answers.items()}
    handle.remove()
    assert sum(rows) == len(TEXTS) and len(rows) < len(TEXTS)
    for place, output in found.items():
        with torch.no_grad():
            alone = network()(torch.tensor([TEXTS[place].ids]))
        assert output.hidden_BSD.shape == (1, len(TEXTS[place]), 32)
        assert torch.allclose(output.hidden_BSD, alone.hidden_BSD, atol=1e-5)
        assert torch.allclose(output.logits, alone.logits, atol=1e-4)


def test_an_encoder_in_a_queue_stands_in_for_the_encoder(queue: ReadingQueue) -> None:
    stands_in = QueuedEncoder(network=network(), queue=queue)
    plain, queued = list(read(network(), TEXTS)), list(read(stands_in, TEXTS))
    for one, other in zip(plain, queued, strict=True):
        assert one.places == other.places
        real = one.mask_BS
        assert torch.allclose(one.output.hidden_BSD[real], other.output.hidden_BSD[real], atol=1e-5)
        assert torch.allclose(one.output.logits[real], other.output.logits[real], atol=1e-4)
    assert network().config.head.kind is HeadKind.MASKED_LANGUAGE_MODEL


def test_clients_take_turns_and_who_leaves_takes_the_texts_along() -> None:
    """Whoever hands in very many texts does not keep out whoever hands in one."""
    queue = ReadingQueue(network=network(), moment=0.3)
    batches: list[int] = []
    hook = network().encoder.register_forward_pre_hook(lambda _, inputs: batches.append(inputs[0].shape[0]))
    left = threading.Event()

    def check() -> None:
        if left.is_set():
            raise InterruptedError

    def encoder(client: str) -> QueuedEncoder:
        return QueuedEncoder(network=network(), queue=queue, client=lambda: client, check=check)

    many = threading.Thread(target=_read_many, args=(encoder("greedy"), left))
    many.start()
    while len(queue) < 100:
        assert many.is_alive()
    encoder("modest")(torch.tensor([TEXTS[0].ids]))
    n_read = sum(batches)
    left.set()
    many.join(60)
    hook.remove()
    assert n_read < 500  # a few batches, and not all that came before
    queue.close()
    assert sum(batches) < 1000


def _read_many(encoder: QueuedEncoder, left: threading.Event) -> None:
    with pytest.raises(InterruptedError):
        encoder(torch.tensor([TEXTS[1].ids] * 1000))
    assert left.is_set()


def test_what_one_text_breaks_it_breaks_for_itself(queue: ReadingQueue) -> None:
    wrong, fine = queue.submit([5, 99_999]), queue.submit(TEXTS[1].ids)
    with pytest.raises(TextError, match="outside the vocabulary"):
        wrong.result(60)
    assert fine.result(60).hidden_BSD.shape[1] == len(TEXTS[1])


def test_what_cannot_be_read_is_refused_at_once(queue: ReadingQueue) -> None:
    with pytest.raises(TextError, match="empty"):
        queue.submit([])
    with pytest.raises(DecodingError, match="longer than the model's context"):
        queue.submit([5] * 65)


def test_a_queue_is_bounded_and_closes_after_reading_what_it_took() -> None:
    queue = ReadingQueue(network=network(), most_waiting=2, moment=60.0)  # closing ends the moment
    taken = [queue.submit([5, 6]), queue.submit([7])]
    with pytest.raises(Busy):
        queue.submit([8])
    assert taken[1].cancel()
    queue.close()
    assert taken[0].result(0).hidden_BSD.shape == (1, 2, 32)
    with pytest.raises(Closed):
        queue.submit([8])
