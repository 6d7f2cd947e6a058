"""What a server does under load: many streaming clients at once, beside one request at a time.

    python benchmarks/load.py                      the embedded storyteller, 32 clients for 20 seconds
    python benchmarks/load.py --clients 200 --seconds 60 --model FOLDER

Requests are of unequal lengths. Every answer is compared with what the model writes alone for its seed. One at a time
is measured before and after, with the same server; processor time is the server's. All traffic stays on this computer.
"""

import argparse
import asyncio
import json
import os
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
LENGTHS = (1 / 3, 1, 5 / 3)
RETRY_MOST = 2.0
Work = list[tuple[bytes, str]]


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What one request brought: which it was, its status, the time to its first token, and all that was sent."""

    place: int
    status: int
    first: float
    sent: bytes

    @property
    def events(self) -> list[bytes]:
        """The events of a stream."""
        return [line[6:] for line in self.sent.splitlines() if line.startswith(b"data: ")]


@dataclass
class Phase:
    """What came of all requests of some seconds."""

    heard: list[Heard] = field(default_factory=list[Heard])
    seconds: float = 0.0
    processor: float = 0.0

    def account(self, work: Work) -> dict[str, object]:
        """The numbers that are printed."""
        whole = [one for one in self.heard if one.status == 200]
        first = sorted(one.first for one in whole)
        tokens = wrong = cut_off = 0
        for one in whole:
            *events, last = one.events
            tokens += len(events)
            cut_off += last != b"[DONE]"
            text = "".join(json.loads(event)["choices"][0]["text"] for event in events if b'"choices"' in event)
            wrong += text != work[one.place][1]
        return {
            "answers": len(whole),
            "wrong": wrong,
            "cut_off": cut_off,
            "statuses": {str(status): n for status, n in sorted(Counter(one.status for one in self.heard).items())},
            "tokens": tokens,
            "seconds": round(self.seconds, 2),
            "tokens_per_second": round(tokens / max(self.seconds, 1e-9), 1),
            "tokens_per_processor_second": round(tokens / max(self.processor, 1e-9), 1),
            "first_token_p50": round(statistics.median(first), 3) if first else None,
            "first_token_p95": round(first[int(0.95 * (len(first) - 1))], 3) if first else None,
        }


def expected(model: str, *, tokens: int, seeds: int) -> Work:
    """Requests as they are sent, each with what the model writes for it alone."""
    loaded = clearhead.load(model)
    found: Work = []
    for seed in range(seeds):
        prompt, n_new = PROMPTS[seed % len(PROMPTS)], max(1, round(tokens * LENGTHS[seed % len(LENGTHS)]))
        text = loaded.complete(prompt, max_new_tokens=n_new, seed=seed, temperature=1.0)
        asked = {"prompt": prompt, "max_tokens": n_new, "seed": seed, "temperature": 1.0, "stream": True}
        body = json.dumps({**asked, "model": Path(model).name}).encode()
        head = (
            f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        found.append((head.encode() + body, str(text)))
    return found


async def ask(port: int, work: Work, place: int) -> Heard:
    """One request; what is sent is looked at later, so that this program takes little from the server."""
    began, first = time.monotonic(), 0.0
    sent: list[bytes] = []
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(work[place][0])
        status = int((await reader.readline()).split()[1])
        while piece := await reader.read(65536):
            sent.append(piece)
            if not first and b"data: " in piece:
                first = time.monotonic() - began
    finally:
        writer.close()
    return Heard(place=place, status=status, first=first, sent=b"".join(sent))


async def client(port: int, work: Work, place: int, until: float, phase: Phase) -> None:
    """One client, which asks again as soon as it is answered, or a little later where it is told to."""
    while time.monotonic() < until:
        heard = await ask(port, work, place % len(work))
        phase.heard.append(heard)
        place += 1
        if heard.status == 429:
            await asyncio.sleep(RETRY_MOST * (0.5 + place % 7 / 7))


async def measure(process: int, port: int, work: Work, *, clients: int, seconds: float) -> Phase:
    """Many clients for some seconds; what has begun is waited for."""
    phase, began, worked = Phase(), time.monotonic(), processor_time(process)
    until = began + seconds
    await asyncio.gather(*(client(port, work, 7 * place, until, phase) for place in range(clients)))
    phase.seconds = time.monotonic() - began
    phase.processor = processor_time(process) - worked
    return phase


def processor_time(process: int) -> float:
    """Seconds that a process has worked so far, on all cores."""
    spent = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK")


def run(given: argparse.Namespace) -> dict[str, object]:
    """Start a server, measure, stop."""
    work = expected(given.model, tokens=given.tokens, seeds=given.seeds)
    options = [f"--{one}" if not one[0].isdigit() else one for one in given.serve]
    # A machine that is busy with other things is slow, but that is no reason to end a request.
    arguments = ["serve", given.model, "--port", "0", "--threads", str(given.threads), "--deadline", "1200", *options]
    server = subprocess.Popen(  # noqa: S603  (our own server)
        [sys.executable, "-m", "clearhead", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert server.stdout is not None
        found = re.search(r":(\d+)/", server.stdout.readline())
        assert found, "the server did not start"

        def phase(clients: int, seconds: float) -> Phase:
            return asyncio.run(measure(server.pid, int(found[1]), work, clients=clients, seconds=seconds))

        phase(1, 1)  # the model is loaded by the first request
        before = phase(1, given.seconds / 6)
        together = phase(given.clients, given.seconds)
        after = phase(1, given.seconds / 6)
    finally:
        server.terminate()
        server.wait()
    alone = Phase(
        heard=before.heard + after.heard,
        seconds=before.seconds + after.seconds,
        processor=before.processor + after.processor,
    )
    accounts = {"alone": alone.account(work), "together": together.account(work)}
    ratios = {
        name: round(accounts["together"][f"tokens_per_{name}"] / accounts["alone"][f"tokens_per_{name}"], 2)
        for name in ("second", "processor_second")
    }
    return {"clients": given.clients, "stopped": server.returncode, **accounts, "ratio": ratios}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="storyteller")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tokens", type=int, default=48, help="new tokens of a request, in the middle")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--serve", nargs="*", default=[], help="more options of clearhead serve, without the dashes")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = run(given)
    if given.json:
        print(json.dumps(found))
        return
    for name, account in (("one at a time", found["alone"]), (f"{given.clients} clients", found["together"])):
        print(name)
        for key, value in account.items():
            print(f"  {key:<28} {value}")
    print(
        f"ratio of tokens a second {found['ratio']['second']}, a processor second {found['ratio']['processor_second']}"
    )


if __name__ == "__main__":
    main()
