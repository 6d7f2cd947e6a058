"""Options as the command line spells them, where a message names the keyword arguments of Python.

Takes: the advice of an error.
Gives: the same advice with --options.
Uses:  cli.options.
Never: a name that no verb has as an option.
"""

import re

from clearhead.cli.options import FLAGS

__all__ = ["spelled"]

_ARGUMENT = re.compile(rf"\b({'|'.join(FLAGS)}|truncate)=(?:'([^']*)'|([\w.+-]*\w))")
_LABELS = re.compile(r"\blabels=\[([^\]]*)\]")


def spelled(text: str) -> str:
    """A message with `--max-new-tokens 4` in the place of `max_new_tokens=4`."""
    text = _LABELS.sub(lambda found: " ".join(f"--label {one}" for one in re.findall(r"\w+", found[1])), text)
    return _ARGUMENT.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    name, quoted, bare = found.groups()
    value = bare if quoted is None else quoted
    flag = FLAGS.get(name, f"--{name}")
    return flag if value == "True" else f"{flag} {value}"
