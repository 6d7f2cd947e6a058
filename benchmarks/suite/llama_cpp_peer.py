"""llama.cpp with a GPT-2: the same weights as GGUF, and greedy decoding of several texts at once.

llama-cpp-python compiles llama.cpp while it is installed, so that it is there only where somebody wanted that.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

AVAILABLE = find_spec("llama_cpp") is not None and find_spec("gguf") is not None
KINDS = {"float32": "f32", "int8": "q8_0"}
"""What llama.cpp calls the nearest that it has: its whole numbers have a scale for every 32, ours for every output."""
_ROOM = 256
_PLAIN = {"wte.weight": "token_embd.weight", "wpe.weight": "position_embd.weight"}
_PARTS = {"ln_1": "attn_norm", "ln_2": "ffn_norm", "ln_f": "output_norm", "attn.c_attn": "attn_qkv"}
_PARTS |= {"attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}


def gguf_file(folder: Path, work: Path, kind: str) -> Path:
    """A GPT-2 folder as llama.cpp reads it, without its vocabulary."""
    import llama_cpp  # noqa: PLC0415

    path = work / f"{folder.name}-{KINDS[kind]}.gguf"
    if not path.is_file():
        new = path.with_suffix(".new")
        if kind == "float32":
            _write(folder, new)
        else:
            params = llama_cpp.llama_model_quantize_default_params()
            params.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0
            source = gguf_file(folder, work, "float32")
            assert llama_cpp.llama_model_quantize(str(source).encode(), str(new).encode(), params) == 0
        new.rename(path)
    return path


def _write(folder: Path, path: Path) -> None:
    import gguf  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    config = transformers.GPT2Config.from_pretrained(folder)
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_context_length(config.n_positions)
    writer.add_embedding_length(config.n_embd)
    writer.add_feed_forward_length(4 * config.n_embd)
    writer.add_block_count(config.n_layer)
    writer.add_head_count(config.n_head)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("none")
    for name, values in load_file(folder / "model.safetensors").items():
        whole = values.T if values.ndim == 2 and ".h." in name else values
        writer.add_tensor(_named(name.removeprefix("transformer.")), np.ascontiguousarray(whole, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _named(name: str) -> str:
    """What GGUF calls a tensor of a GPT-2."""
    if name in _PLAIN:
        return _PLAIN[name]
    part, _, leaf = name.rpartition(".")
    block, part = ("", part) if not part.startswith("h.") else part.removeprefix("h.").split(".", 1)
    return f"{f'blk.{block}.' if block else ''}{_PARTS[part]}.{leaf}"


def greedy(path: Path, prompts: list[list[int]], *, n_tokens: int, threads: int) -> Callable[[], list[list[int]]]:
    """A run of llama.cpp: all prompts at once, then one id a text and step."""
    import llama_cpp  # noqa: PLC0415

    quiet = llama_cpp.llama_log_callback(lambda *_: None)
    llama_cpp.llama_log_set(quiet, None)
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
    params = llama_cpp.llama_context_default_params()
    n_rows, longest = len(prompts), max(map(len, prompts))
    params.n_seq_max, params.n_ctx = n_rows, n_rows * -(-(longest + n_tokens) // _ROOM) * _ROOM
    params.n_batch = params.n_ubatch = max(512, n_rows * longest)
    params.n_threads = params.n_threads_batch = threads
    context = llama_cpp.llama_init_from_model(model, params)
    assert context, "llama.cpp could not open the model"
    size = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
    batch = llama_cpp.llama_batch_init(n_rows * longest, 0, 1)

    def step(rows: list[list[int]], before: int) -> list[int]:
        """The likeliest id after each row, whose ids begin after so many others."""
        lasts: list[int] = []
        n = 0
        for which, row in enumerate(rows):
            for place, index in enumerate(row):
                batch.token[n], batch.pos[n], batch.n_seq_id[n], batch.seq_id[n][0] = index, before + place, 1, which
                batch.logits[n] = place == len(row) - 1
                n += 1
            lasts.append(n - 1)
        batch.n_tokens = n
        assert llama_cpp.llama_decode(context, batch) == 0
        logits = (llama_cpp.llama_get_logits_ith(context, last) for last in lasts)
        return [int(np.ctypeslib.as_array(each, (size,)).argmax()) for each in logits]

    def run() -> list[list[int]]:
        assert quiet is not None  # it is called from outside as long as this lives
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), True)
        found = [[index] for index in step(prompts, 0)]
        for place in range(n_tokens - 1):
            for row, index in zip(found, step([[row[-1]] for row in found], longest + place), strict=True):
                row.append(index)
        return found

    return run
