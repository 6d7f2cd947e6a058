"""The room for published tokenizers: every layout that the supported families come in, as one kind of object.

Takes: a folder with tokenizer.json, vocab.json and merges.txt, vocab.txt, a SentencePiece file, or Marian's pair.
Gives: a Tokenizer, with the roles, the frame and the chat template that the files beside it name.
Uses:  errors, and the rest of the text room; tokenizers, jinja2.
Never: protobuf, sentencepiece, downloads, or a guess where two readings of a file give different ids.
"""
