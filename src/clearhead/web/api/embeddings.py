"""`/v1/embeddings` and `/v1/models`: vectors of texts, and the models that can be asked for."""

import base64

import numpy as np

from clearhead.tasks.sources import whole_texts
from clearhead.tasks.vectors import embed_encodings
from clearhead.web.api.completions import note_read
from clearhead.web.api.endpoint import Call, Endpoint
from clearhead.web.api.openai_shapes import Embedding, EmbeddingAsked, Embeddings, EmbeddingUsage, ModelCard, ModelCards
from clearhead.web.api.shape import listed


def embedding_endpoints() -> list[Endpoint]:
    """The endpoints."""
    return [
        Endpoint(
            path="/v1/embeddings",
            summary="Gives each text a vector.",
            answer=_embed,
            asked=EmbeddingAsked,
            gives=Embeddings,
        ),
        Endpoint(path="/v1/models", summary="Lists the models.", answer=_models, method="GET", gives=ModelCards),
        Endpoint(
            path="/v1/models/{model:path}", summary="Says that a model is here.", answer=_model, method="GET",
            gives=ModelCard,
        ),
    ]  # fmt: skip


async def _embed(call: Call, asked: EmbeddingAsked) -> Embeddings:
    texts = listed(asked.input)

    def embed() -> tuple[np.ndarray, int]:
        model = call.desk.model(asked.model)
        model.loaded.require("embed")
        encodings = whole_texts(model.loaded, texts, truncate=False)
        vectors_BD = embed_encodings(call.desk.served(model), encodings)
        return vectors_BD, sum(len(one) for one in encodings)

    vectors, n_tokens = await call.work(embed)
    note_read(call, asked.model, n_tokens, text=asked.input)
    in_base64 = asked.encoding_format == "base64"
    data = [
        Embedding(
            index=place,
            embedding=base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
            if in_base64
            else vector.tolist(),
        )
        for place, vector in enumerate(vectors)
    ]
    usage = EmbeddingUsage(prompt_tokens=n_tokens, total_tokens=n_tokens)
    return Embeddings(data=data, model=asked.model, usage=usage)


async def _models(call: Call, _: None) -> ModelCards:
    return ModelCards(data=[_card(call, name) for name in call.desk.shelf.names])


async def _model(call: Call, _: None) -> ModelCard:
    return _card(call, call.desk.known(call.request.path_params["model"]))


def _card(call: Call, name: str) -> ModelCard:
    return ModelCard(id=name, created=call.desk.since, owned_by="clearhead")
