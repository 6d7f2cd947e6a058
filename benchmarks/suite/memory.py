"""The most memory that a process needs to open a model of GPT-2's size and write 32 tokens; a process for each.

python benchmarks/suite/memory.py WHO FOLDER    one of them, in this process; prints megabytes
"""

import resource
import subprocess
import sys
from pathlib import Path

WHO = ("clearhead int8", "clearhead float32", "ctranslate2 int8", "ctranslate2 float32", "transformers float32")
NEW = 32


def measure(work: Path, *, threads: int) -> dict[str, object]:
    """Megabytes at the most, of each."""
    import peers  # noqa: PLC0415  (a process of its own imports only what it measures)

    folder = peers.gpt2_folder(work)
    folders = {who: peers.converted(folder, work) if who.startswith("ctranslate2") else folder for who in WHO}
    found: dict[str, object] = {}
    for who in WHO:
        command = [sys.executable, __file__, who, str(folders[who]), str(threads)]
        found[who] = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603
    return found


def write_by(who: str, folder: Path, threads: int) -> None:
    """Opens the model and writes."""
    name, kind = who.split()
    if name == "ctranslate2":
        import ctranslate2  # noqa: PLC0415

        generator = ctranslate2.Generator(str(folder), compute_type=kind, intra_threads=threads)
        generator.generate_batch([["<w7>", "<w8>"]], max_length=NEW, min_length=NEW, sampling_topk=1)
        return
    import torch  # noqa: PLC0415

    torch.set_num_threads(threads)
    if name == "transformers":
        import transformers  # noqa: PLC0415

        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        with torch.no_grad():
            model.generate(torch.tensor([[7, 8]]), max_new_tokens=NEW, do_sample=False, pad_token_id=0)
        return
    from clearhead.decoding import DecodingSettings  # noqa: PLC0415
    from clearhead.engine import Request  # noqa: PLC0415
    from clearhead.tasks import Loaded  # noqa: PLC0415

    engine = Loaded.open(folder, weights=kind).engine
    engine.generate([Request(ids=(7, 8), settings=DecodingSettings(max_new_tokens=NEW))])


def peak() -> int:
    """Megabytes of this process at the most; the usual counter would begin with those of whoever started it."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


if __name__ == "__main__":
    write_by(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    print(peak())
