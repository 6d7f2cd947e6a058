"""From text to vectors: tokens, counts, static vectors, and what they cannot say."""

import re

from clearhead.explain import word_similarity
from clearhead.explain.numbers import cosine
from clearhead.lessons.course.chapter import Chapter, Live, Question, right, wrong
from clearhead.model import load
from clearhead.text import DocumentVectors, WordVectors, train_tokenizer
from clearhead.text.document_vectors import Weighting, one_hot
from clearhead.text.scramble import scramble_words

_SENTENCE = "AI changes the world."
_BANKS = ("She deposited money in the bank.", "They walked along the bank of the river.")


def _tokens() -> str:
    pieces = train_tokenizer([_SENTENCE], kind="word").encode(_SENTENCE, add_special=False).pieces
    return f"The word tokenizer gives {len(pieces)} tokens: {' | '.join(pieces)}."


def _unknown() -> str:
    words = train_tokenizer([_SENTENCE], kind="word").encode("AI eats", add_special=False).pieces
    tokenizer = train_tokenizer([_SENTENCE], kind="bpe")
    back = tokenizer.decode(tokenizer.encode("Zwölf नमस्ते", add_special=False).ids)
    return f"“AI eats” by words: {' | '.join(words)}. “Zwölf नमस्ते” by bytes, and back: {back}."


def _scrambled() -> str:
    tokenizer = load("reader").tokenizer
    whole, mixed = "reading", scramble_words("reading", seed=3)
    counts = [len(tokenizer.encode(word, add_special=False).ids) for word in (whole, mixed)]
    return f"“{whole}” is {counts[0]} piece(s) for the reader, “{mixed}” is {counts[1]}."


def _one_hot() -> str:
    rows = one_hot(["king", "queen"], vocabulary=["king", "queen", "throne"])
    apart, same = rows[0] @ rows[1], rows[0] @ rows[0]
    return f"king · queen = {apart:.0f}, and king · king = {same:.0f}: all words are equally far apart."


def _count() -> str:
    vector = DocumentVectors(documents=["AI changes the world"], vocabulary=["AI", "changes", "world"]).vector(
        "AI world"
    )
    return f"Counted over [AI, changes, world]: {[int(one) for one in vector]}."


def _tfidf() -> str:
    documents = ["the cat sat", "the dog ran", "the cat ran"]
    vectors = DocumentVectors(documents=documents, weighting=Weighting.TFIDF)
    row = dict(zip(vectors.vocabulary, vectors.vector("the cat dog"), strict=True))
    return "Weights of “the cat dog”: " + ", ".join(f"{word} {row[word]:.2f}" for word in ("the", "cat", "dog")) + "."


def _queen() -> str:
    best = WordVectors.embedded().analogy("king", "man", "woman", n=3)
    return "Nearest to king - man + woman: " + ", ".join(f"{one.word} {one.similarity:.2f}" for one in best) + "."


def _bank() -> str:
    found = word_similarity(load("reader-meaning").loaded, *_BANKS, word="bank")
    vectors = WordVectors.embedded()
    static = [vectors[next(word for word in re.findall("[a-z]+", text.lower()) if word == "bank")] for text in _BANKS]
    return f"Cosine of the two banks: static {cosine(*static):.2f}; in the reader's last layer {found[-1][1]:.2f}."


CHAPTERS = (
    Chapter(
        key="A1",
        title="Tokens",
        text=(
            "A model reads numbers. The first step cuts text into tokens and gives each its number in a vocabulary.",
            "Words are easy to read, but there is no end to them: a word that was not seen has no number. Characters "
            "always have one, but texts become long. Pieces of words are the compromise: frequent words stay whole, "
            "rare ones are spelt from parts.",
        ),
        examples=("E13",),
        live=(
            Live(
                view="flow", says="The chips above the model are its tokens: type a rare word and watch it fall apart."
            ),
        ),
        questions=(
            Question(
                key="tokens",
                text="How many tokens has “AI changes the world.” for a tokenizer of words?",
                choices=(
                    wrong("4", "The full stop is a token of its own."),
                    right("5", "Four words and the full stop."),
                    wrong("21", "That would be characters."),
                ),
                show=_tokens,
            ),
            Question(
                key="unknown",
                text="Which tokenizer can write every text there is?",
                choices=(
                    wrong("words", "A word that it has not seen becomes an unknown token."),
                    right("bytes", "Every text is bytes, and there are only 256 of them."),
                ),
                show=_unknown,
            ),
            Question(
                key="scrambled",
                text="People read “raednig” almost as fast as “reading”. What does a tokenizer of pieces do with it?",
                choices=(
                    right("It becomes more pieces", "It looks for exact spellings."),
                    wrong("Nothing changes", "It has no eye for the shape of a word."),
                ),
                show=_scrambled,
            ),
        ),
    ),
    Chapter(
        key="A2",
        title="One-hot, counts, TF-IDF",
        text=(
            "The plainest vector of a word has a 1 at its place and 0 elsewhere. It says which word it is, and nothing "
            "about it: every two words are at right angles.",
            "A document can be the sum of its words: how often each occurs. Words that occur everywhere tell little, so "
            "TF-IDF weighs each by how few documents have it.",
        ),
        questions=(
            Question(
                key="one-hot",
                text="What is the product of the one-hot vectors of “king” and “queen”?",
                choices=(right("0"), wrong("0.5", "They share no place."), wrong("1", "That is a word with itself.")),
                show=_one_hot,
            ),
            Question(
                key="count",
                text="What is the count vector of “AI world” over [AI, changes, world]?",
                choices=(right("[1, 0, 1]"), wrong("[1, 1, 1]", "“changes” does not occur."), wrong("[0, 2]")),
                show=_count,
            ),
            Question(
                key="tfidf",
                text="Documents: “the cat sat”, “the dog ran”, “the cat ran”. Which word weighs least in TF-IDF?",
                choices=(
                    right("the", "It is in every document."),
                    wrong("cat"),
                    wrong("dog", "It is in one alone: it weighs most."),
                ),
                show=_tfidf,
            ),
        ),
    ),
    Chapter(
        key="A3",
        title="Static word vectors",
        text=(
            "A word is known by the company it keeps. Vectors that are learned to predict neighbours come to lie near "
            "each other where words are used alike, and directions come to mean something: the step from man to woman "
            "is nearly that from king to queen.",
        ),
        questions=(
            Question(
                key="queen",
                text="Which word is nearest to king - man + woman?",
                choices=(right("queen"), wrong("prince"), wrong("throne")),
                show=_queen,
            ),
        ),
    ),
    Chapter(
        key="A4",
        title="The trouble with static vectors",
        text=(
            "A static vector is the same in every sentence. But the bank of a river keeps no money. The vector of a word "
            "should depend on the words around it: that is what attention is for.",
        ),
        examples=("E7",),
        live=(
            Live(
                view="attention",
                says="What does “bank” look at in each sentence?",
                settings={"model": "reader-meaning", "text": _BANKS[1]},
            ),
        ),
        questions=(
            Question(
                key="bank",
                text="“bank” in a sentence about money, and in one about a river: how alike are its vectors?",
                choices=(
                    right("static vectors: the same; an encoder's: not", "An encoder mixes in the words around."),
                    wrong("the same in both"),
                    wrong("different in both", "A static table has one row a word."),
                ),
                show=_bank,
            ),
        ),
    ),
)
