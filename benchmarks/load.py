"""What a server does under load: many streaming clients at once, beside one request at a time.

    python benchmarks/load.py                      the embedded storyteller, 32 clients for 20 seconds
    python benchmarks/load.py --clients 200 --seconds 60 --model FOLDER

Every answer is compared with what the model writes alone for its seed. All traffic stays on this computer.
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import clearhead

PROMPTS = ("Once upon a time", "The little dog", "One day, a girl named", "Tom and his mother", "In the big forest")
RETRY_MOST = 2.0


@dataclass
class Tally:
    """What came of all requests of one kind."""

    first: list[float] = field(default_factory=list[float])
    tokens: int = 0
    answers: int = 0
    wrong: int = 0
    statuses: Counter[int] = field(default_factory=Counter[int])
    seconds: float = 0.0

    def account(self) -> dict[str, object]:
        """The numbers that are printed."""
        ordered = sorted(self.first)
        return {
            "answers": self.answers,
            "wrong": self.wrong,
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "tokens_per_second": round(self.tokens / max(self.seconds, 1e-9), 1),
            "first_token_p50": round(statistics.median(ordered), 3) if ordered else None,
            "first_token_p95": round(ordered[int(0.95 * (len(ordered) - 1))], 3) if ordered else None,
        }


def expected(model: str, *, tokens: int, seeds: int) -> list[tuple[dict[str, object], str]]:
    """Requests, each with what the model writes for it alone."""
    loaded = clearhead.load(model)
    found: list[tuple[dict[str, object], str]] = []
    for seed in range(seeds):
        prompt = PROMPTS[seed % len(PROMPTS)]
        text = loaded.complete(prompt, max_new_tokens=tokens, seed=seed, temperature=1.0)
        asked = {"prompt": prompt, "max_tokens": tokens, "seed": seed, "temperature": 1.0, "stream": True}
        found.append(({**asked, "model": Path(model).name}, str(text)))
    return found


async def ask(port: int, asked: dict[str, object]) -> tuple[int, float, int, str]:
    """One request: its status, the time to its first token, how many pieces came, and the text."""
    body = json.dumps(asked).encode()
    head = (
        f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    began, first, pieces = time.monotonic(), 0.0, 0
    text = ""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head.encode() + body)
        status = int((await reader.readline()).split()[1])
        async for line in reader:
            if line.startswith(b"data: {"):
                choice = json.loads(line[6:])["choices"][0]
                text += choice["text"]
                pieces += 1
                first = first or time.monotonic() - began
    finally:
        writer.close()
    return status, first, pieces, text


async def client(port: int, work: list[tuple[dict[str, object], str]], place: int, until: float, tally: Tally) -> None:
    """One client, which asks again as soon as it is answered, or a little later where it is told to."""
    while time.monotonic() < until:
        asked, text = work[place % len(work)]
        place += 1
        status, first, pieces, found = await ask(port, asked)
        tally.statuses[status] += 1
        if status == 200:
            tally.answers += 1
            tally.tokens += pieces
            tally.first.append(first)
            tally.wrong += found != text
        elif status == 429:
            await asyncio.sleep(RETRY_MOST * (0.5 + place % 7 / 7))


async def measure(port: int, work: list[tuple[dict[str, object], str]], *, clients: int, seconds: float) -> Tally:
    """Many clients for some seconds; what has begun is waited for."""
    tally, began = Tally(), time.monotonic()
    until = began + seconds
    await asyncio.gather(*(client(port, work, 7 * place, until, tally) for place in range(clients)))
    tally.seconds = time.monotonic() - began
    return tally


def main() -> None:
    """Start a server, measure, print, stop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="storyteller")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--serve", nargs="*", default=[], help="more options of clearhead serve, without the dashes")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    work = expected(given.model, tokens=given.tokens, seeds=given.seeds)
    options = [f"--{one}" if not one[0].isdigit() else one for one in given.serve]
    arguments = ["serve", given.model, "--port", "0", "--threads", str(given.threads), *options]
    process = subprocess.Popen(  # noqa: S603  (our own server)
        [sys.executable, "-m", "clearhead", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = re.search(r":(\d+)/", process.stdout.readline())
        assert found, "the server did not start"
        port = int(found[1])
        asyncio.run(measure(port, work, clients=1, seconds=1))  # the model is loaded by the first request
        alone = asyncio.run(measure(port, work, clients=1, seconds=given.seconds / 4)).account()
        together = asyncio.run(measure(port, work, clients=given.clients, seconds=given.seconds)).account()
    finally:
        process.terminate()
        process.wait()
    if given.json:
        print(json.dumps({"alone": alone, "together": together, "clients": given.clients}))
        return
    for name, account in (("one at a time", alone), (f"{given.clients} clients", together)):
        print(name)
        for key, value in account.items():
            print(f"  {key:<18} {value}")


if __name__ == "__main__":
    main()
