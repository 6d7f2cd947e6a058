"""The text room: from characters to ids and back, and the vectors that need no neural network.

Takes: strings, corpora, word-vector files, the folders of published tokenizers.
Gives: Tokenizer (trained or loaded), sentences, passages, a scrambler, one-hot, count and TF-IDF vectors, word vectors.
Uses:  errors; tokenizers, jinja2, scikit-learn and gensim, each imported when it is first needed.
Never: torch, models, batches, downloads, or anything that unpickles a file.
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.text.document_vectors import DocumentVectors as DocumentVectors
    from clearhead.text.document_vectors import Weighting as Weighting
    from clearhead.text.document_vectors import one_hot as one_hot
    from clearhead.text.files import read_lines as read_lines
    from clearhead.text.kinds import TokenizerKind as TokenizerKind
    from clearhead.text.passages import split_passages as split_passages
    from clearhead.text.published.load import has_tokenizer as has_tokenizer
    from clearhead.text.published.load import load_tokenizer as load_tokenizer
    from clearhead.text.scramble import scramble_words as scramble_words
    from clearhead.text.sentences import Segment as Segment
    from clearhead.text.sentences import join_segments as join_segments
    from clearhead.text.sentences import split_sentences as split_sentences
    from clearhead.text.special import SpecialIds as SpecialIds
    from clearhead.text.special import SpecialTokens as SpecialTokens
    from clearhead.text.tokenizer import Encoding as Encoding
    from clearhead.text.tokenizer import Tokenizer as Tokenizer
    from clearhead.text.train import train_tokenizer as train_tokenizer
    from clearhead.text.word_vectors import WordVectors as WordVectors
    from clearhead.text.words import split_words as split_words

_DOORS = {
    "DocumentVectors": "clearhead.text.document_vectors",
    "Encoding": "clearhead.text.tokenizer",
    "Segment": "clearhead.text.sentences",
    "SpecialIds": "clearhead.text.special",
    "SpecialTokens": "clearhead.text.special",
    "Tokenizer": "clearhead.text.tokenizer",
    "TokenizerKind": "clearhead.text.kinds",
    "Weighting": "clearhead.text.document_vectors",
    "WordVectors": "clearhead.text.word_vectors",
    "has_tokenizer": "clearhead.text.published.load",
    "join_segments": "clearhead.text.sentences",
    "load_tokenizer": "clearhead.text.published.load",
    "one_hot": "clearhead.text.document_vectors",
    "read_lines": "clearhead.text.files",
    "scramble_words": "clearhead.text.scramble",
    "split_passages": "clearhead.text.passages",
    "split_sentences": "clearhead.text.sentences",
    "split_words": "clearhead.text.words",
    "train_tokenizer": "clearhead.text.train",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
