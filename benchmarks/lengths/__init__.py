"""The experiment of BLEU by sentence length, in three steps.

Takes: the splits of a corpus of short pairs.
Gives: files of inputs of every length, what a trained network makes of them, and the page that says so.
Uses:  clearhead, as anybody could.        Never: trains; `benchmarks/sentence_length.py` does.
"""
