"""What keeps text of a document, a question or a memory from being read as part of a prompt's own structure.

Three things in a prompt have authority: the control tokens and fences that part its turns, the labels that part its
fields, and the numbers that part its items. A text that spells one of them gets an invisible character after the first
one of it, so that no tokenizer finds a token and no line opens a field or an item. A text that spells none of them is
left as it is, to the byte. What a model quotes is given back without the mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

MARK = "\u206f"
"""A format character that Unicode has deprecated: invisible, and in no document, so that it can be taken out again."""
WRITTEN_MARK = re.compile(rf"{MARK}|(?<!\\)\\u206[fF]")
"""The mark as a model writes it: itself, or escaped in JSON."""

BREAKS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
OPENING = rf"(?<![^{BREAKS}])[^\w{BREAKS}]*?"
"""The beginning of a line, with the bullets, quotation marks and emphasis that may stand there."""
NUMBER = re.compile(r"\d+")


def any_of(words: str) -> str:
    """Write some words as one pattern."""
    return f"(?:{'|'.join(words.split())})"


TAG = any_of(
    "s bos eos pad unk mask cls sep eot eod sop eop eoh eoa BOS EOS PAD UNK MASK CLS SEP EOT EOD PRE SUF MID REPO "
    "think thinking thought reasoning reflection tools assistant human bot image img audio video "
    "reponame filename endoftext"
)
TAG_BEGINNING = any_of(
    "fim tool tools function functions arg jupyter issue commit commits repo file image audio video vision img box ref "
    "quad special reserved extra gh empty code pr think bos eos pad unk mask cls sep turn im start end begin media "
    "TOKENS SPECIAL BOS EOS PAD UNK MASK CLS SEP EOP"
)
TAG_END = any_of("token TOKEN start end begin call response result output sep pad prefix suffix middle")
BRACKETED = any_of(
    "INST SYS IMG ARGS THINK AUDIO PREFIX MIDDLE SUFFIX TRANSCRIBE CLS SEP MASK PAD UNK BOS EOS EOT gMASK sMASK "
    "multimodal start_header_id end_header_id"
)
CONTROL_TOKENS = (
    r"<\|[^<>\n]{1,64}?\|>",  # <|im_start|> and, folded, <｜User｜>
    r"<\|\w{1,64}>",
    r"<\w{1,64}\|>",
    r"\[\|[^\[\]\n]{1,64}?\|\]",
    r"<</?[A-Z]{1,16}>>",
    r">>[A-Z_]{1,32}<<",
    rf"</?{TAG}>",
    rf"</?_*{TAG_BEGINNING}_\w{{1,48}}>",
    rf"</?\w{{1,32}}_(?:{TAG_END}|of_\w{{1,32}})>",
    r"<unused\d+>|<mask:\d+>|</?seed:\w{1,32}>|</?fim-\w{1,32}>|< EOT >",
    rf"\[/?{BRACKETED}\]",
    r"\[/?(?:AVAILABLE|TOOL|SYSTEM|MODEL|CALL|IMG|BEGIN|END|START|STREAMING)_[A-Z_]{1,24}\]",
    r"\[(?:extra_id_|control_|PAD)\d+\]",
    r"\]~b\]|\]~!b\[|\]![pd]~\[|\[e~\[",
)
"""How the control tokens of chat models look. A model behind a server can't be asked for its own."""
FENCES = (
    rf"{OPENING}(?=(?:Human|Assistant|USER|ASSISTANT):)",
    rf"{OPENING}#{{2,4}} ?(?=(?:Instruction|Input|Response|System|User|Human|Assistant):)",
)
"""What chat templates without tokens of their own part turns with, at the beginning of a line."""


@dataclass(frozen=True)
class Lookalikes:
    """Texts that would be read as structure. A match of the pattern ends where one of them begins."""

    pattern: re.Pattern[str]

    def break_up(self, text: str) -> str:
        """Put the mark into each of them."""
        return self.break_up_parts(text)[0]

    def break_up_parts(self, *parts: str) -> list[str]:
        """Do so in texts that will be read as one, and give them apart again."""
        whole = "".join(parts)
        places = dict.fromkeys(found.end() + 1 for found in self.pattern.finditer(folded(whole)))
        marked, start = [], 0
        for part in parts:
            end = start + len(part)
            cuts = [start, *(place for place in places if start < place <= end), end]
            marked.append(MARK.join(whole[a:b] for a, b in pairwise(cuts)))
            start = end
        return marked


@lru_cache(maxsize=64)
def control_lookalikes(declared: tuple[str, ...] = ()) -> Lookalikes:
    """Know control tokens and fences of every family, and those that a model's own vocabulary declares."""
    known = re.compile("|".join(CONTROL_TOKENS))
    own = (token for token in dict.fromkeys(map(folded, declared)) if not known.fullmatch(token))
    inline = "|".join([*map(re.escape, own), *CONTROL_TOKENS])
    return Lookalikes(re.compile("|".join([f"(?={inline})", *FENCES])))


@lru_cache(maxsize=256)
def line_lookalikes(*labels: str, openings: tuple[str, ...] = ()) -> Lookalikes:
    """Know lines that read as a label with its colon, or that open with some words.

    A number in a label stands for any number.
    """
    labelled = [rf"{_loosely(label)}[^\w{BREAKS}]{{0,8}}?:" for label in labels]
    return Lookalikes(re.compile(rf"{OPENING}(?={'|'.join([*labelled, *map(_loosely, openings)])})", re.IGNORECASE))


ITEM_NUMBERS = Lookalikes(re.compile(rf"{OPENING}(?=\[[ \t]*\d+[ \t]*\])"))


def numbered_items(texts: Iterable[str], between: str = "\n\n") -> str:
    """Write items for a model, numbered from 1. No line of an item reads as the number of another one."""
    return between.join(f"[{i}] {ITEM_NUMBERS.break_up(text)}" for i, text in enumerate(texts, start=1))


def restored(text: str) -> str:
    """Give what a model wrote as it would have written it, had it been shown texts without marks."""
    return WRITTEN_MARK.sub("", text)


def folded(text: str) -> str:
    """Write look-alikes of ASCII characters as these, character by character, so that places stay what they are."""
    return text if text.isascii() else text.translate(FOLD)


class Fold(dict[int, str]):
    """The compatibility form of each character that has one of the same length."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        form = unicodedata.normalize("NFKC", character)
        self[code] = form if len(form) == 1 else character
        return self[code]


FOLD = Fold()


def _loosely(label: str) -> str:
    """Write words as a pattern, whatever the space between them and the numbers in them."""
    words = (NUMBER.sub(r"\\d+", re.escape(word)) for word in label.split())
    return rf"[^\S{BREAKS}]+".join(words)
