"""Published models: from the hub's cache, or downloaded into it after saying so.

Takes: a hub id and a revision, checked.
Gives: the folder in the cache.
Uses:  errors, hub_id, shards; huggingface_hub, which reads HF_HOME, HF_TOKEN, HF_HUB_OFFLINE and HF_ENDPOINT.
Never: a network call for what the cache has, a download that was not announced, or a pickle.
"""

import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import (
    CacheNotFound,
    constants,
    scan_cache_dir,
    snapshot_download,  # pyright: ignore[reportUnknownVariableType]  (one of its options is a bare dict)
)
from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import tqdm

from clearhead.errors import WeightsError
from clearhead.weights.hub_id import MAIN, HubId
from clearhead.weights.shards import CONFIG, INDEX, SINGLE, has_weights, unsafe

__all__ = ["FILES", "CachedModel", "cached_models", "fetch"]

FILES = (
    CONFIG,
    "generation_config.json",
    SINGLE,
    INDEX,
    "model-*.safetensors",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "source.spm",
    "target.spm",
    "chat_template.jinja",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
    "README.md",
    "LICENSE*",
)
"""What is fetched of a repository; whatever else it has stays there."""


class CachedModel(NamedTuple):
    """A model in the hub's cache."""

    id: HubId
    folder: Path
    n_bytes: int


class _NoBar(tqdm):
    """A bar that is not drawn: in a pipe, and while sizes are asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "disable": True})  # pyright: ignore[reportUnknownMemberType]  (untyped)


def fetch(model: HubId) -> Path:
    """The folder of a published model, downloaded only where the cache lacks it.

    Raises:
        UnsafeFile: The model is published as pickles only.
        WeightsError: There is no such model or revision, it may not be read, or the hub is out of reach.
    """
    folder = _cached(model)
    if folder is not None:
        return folder
    if constants.is_offline_mode():
        raise WeightsError(
            "a model that is not in the cache, and the hub is switched off",
            got=f"{model}, with HF_HUB_OFFLINE set",
            expected=f"all its files below {constants.HF_HUB_CACHE}",
            advice="the same once without HF_HUB_OFFLINE, or the folder of a model on this computer",
        )
    with _hub_errors(model):
        plan = snapshot_download(
            model.name, revision=model.revision, allow_patterns=list(FILES), dry_run=True, tqdm_class=_NoBar
        )
    names = {file.filename for file in plan}
    if CONFIG not in names or not any(name.endswith(".safetensors") for name in names):
        raise _unfit(model, names)
    wanted = [file for file in plan if file.will_download]
    _announce(model, n_files=len(wanted), n_bytes=sum(file.file_size or 0 for file in wanted))
    with _hub_errors(model):
        folder = snapshot_download(
            model.name,
            revision=model.revision,
            allow_patterns=list(FILES),
            tqdm_class=None if sys.stderr.isatty() else _NoBar,
        )
    return Path(folder)


def cached_models() -> list[CachedModel]:
    """The models in the cache whose weights are there, by name."""
    try:
        cache = scan_cache_dir(constants.HF_HUB_CACHE)
    except (CacheNotFound, OSError, ValueError):
        return []
    found: list[CachedModel] = []
    for repo in cache.repos:
        for revision in repo.revisions if repo.repo_type == "model" else ():
            named = sorted(revision.refs) or [revision.commit_hash]
            name = HubId(repo.repo_id, MAIN if MAIN in named else named[0])
            if (revision.snapshot_path / CONFIG).is_file() and has_weights(revision.snapshot_path):
                found.append(CachedModel(name, revision.snapshot_path, revision.size_on_disk))
    return sorted(found)


def _cached(model: HubId) -> Path | None:
    """The folder in the cache, where it is complete; no network call."""
    try:
        folder = snapshot_download(
            model.name, revision=model.revision, allow_patterns=list(FILES), local_files_only=True, tqdm_class=_NoBar
        )
    except (LocalEntryNotFoundError, OSError):
        return None
    # Another program may have asked for the configuration alone.
    complete = (Path(folder) / CONFIG).is_file() and has_weights(Path(folder))
    return Path(folder) if complete else None


def _announce(model: HubId, *, n_files: int, n_bytes: int) -> None:
    """Say what will be downloaded and how much, and that it fits."""
    cache = Path(constants.HF_HUB_CACHE)
    size = f"{n_bytes / 1e6:.1f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.2f} GB"
    existing = next((folder for folder in (cache, *cache.parents) if folder.is_dir()), Path.cwd())
    free = shutil.disk_usage(existing).free
    if n_bytes > free:
        raise WeightsError(
            "a model that does not fit on the disk",
            got=f"{size} for {model}",
            expected=f"at most {free / 1e6:.0f} MB below {cache}",
            advice="HF_HOME=FOLDER on a larger disk",
        )
    sys.stderr.write(f"downloading {model} from {constants.ENDPOINT}: {n_files} files, {size}, into {cache}\n")
    sys.stderr.flush()


def _unfit(model: HubId, names: set[str]) -> WeightsError:
    """What to say of a repository that has no weights of the kind that can be read."""
    if CONFIG in names:
        return unsafe("nothing but other formats", where=model.name)
    return WeightsError(
        "a published repository that is not a model of this kind",
        got=f"{model} has {', '.join(sorted(names)[:5]) or 'none of the files that are needed'}",
        expected=f"{CONFIG} and {SINGLE}",
        advice="the model that it was made from; its page often says which",
    )


@contextmanager
def _hub_errors(model: HubId) -> Generator[None, None, None]:
    """Whatever the hub or the way to it says, as a WeightsError."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  (of whichever HTTP client, and of its transports)
        raise _explained(model, _causes(error)) from None


def _causes(error: BaseException | None) -> list[BaseException]:
    """An error and what it was made of; the first cause, which says most, comes last."""
    chain: list[BaseException] = []
    while error is not None:
        chain.append(error)
        error = error.__cause__
    return chain


def _explained(model: HubId, chain: list[BaseException]) -> WeightsError:
    def among(kind: type[Exception]) -> bool:
        return any(isinstance(error, kind) for error in chain)

    if among(GatedRepoError):
        page = f"{constants.ENDPOINT}/{model.name}"
        advice = f"accept its terms at {page}, and then the same with HF_TOKEN set"
        return WeightsError("a model that its owner gives out on request", got=model, advice=advice)
    if among(RevisionNotFoundError):
        got = f"{model.name} has no {model.revision!r}"
        return WeightsError("a revision that the hub does not know", got=got, advice=f"{model.name}@{MAIN}")
    if among(RepositoryNotFoundError):
        return WeightsError(
            "a model that neither this computer nor the hub knows",
            got=model.name,
            expected="an embedded model, a folder, or owner/name as on the hub",
            advice="check the spelling; for a private model, the same with HF_TOKEN set",
        )
    return WeightsError(
        "a download that failed",
        got=f"{model}: {type(chain[-1]).__name__}: {str(chain[-1])[:300]}",
        expected=f"an answer from {constants.ENDPOINT}",
        advice="the same again: it goes on where it stopped. Without a network, a folder on this computer",
    )
