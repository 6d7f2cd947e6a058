"""One word in two sentences: how alike its vectors are, layer by layer, as a picture.

python examples/bank.py bank.svg
"""

import sys

import clearhead
from clearhead.explain import similarity_figure, word_similarity

PAIRS = {
    "money · river": ("She deposited money in the bank.", "They walked along the bank of the river."),
    "money · money": ("She deposited money in the bank.", "He took cash from the bank."),
    "river · river": ("They walked along the bank of the river.", "We sat on the bank of the stream."),
}

model = clearhead.load("reader-meaning").loaded
found = {name: word_similarity(model, *pair, word="bank") for name, pair in PAIRS.items()}
figure = similarity_figure(found, title="“bank” in two sentences: cosine of its vectors by layer")
print(figure.terminal(width=90))
if len(sys.argv) > 1:
    print("wrote", figure.save(sys.argv[1]))
