"""Worked examples over invented passages for the two extractions and the recognition memory.

The published extraction shows one passage, and the published recognition ten lists of facts. These are two and three,
and short: each is read again with every passage. They are DSPy demonstrations, which an optimiser may replace.
"""

from __future__ import annotations

import dspy

from programs.methods.hipporag2.openie import list_names
from programs.models.plain_text import numbered_items
from signatures.baselines.hipporag2 import Entities, RelevantFacts, Triples

Texts = tuple[str, ...]
Facts = tuple[tuple[str, str, str], ...]

OBSERVATORY = "Mirel Thandry opened the Corvane Observatory in 1908. Vasset & Sons of Lower Quill built its dome."
OBSERVATORY_NAMES = ("Mirel Thandry", "Corvane Observatory", "1908", "Vasset & Sons", "Lower Quill")
OBSERVATORY_FACTS = (
    ("Mirel Thandry", "opened", "Corvane Observatory"),
    ("Corvane Observatory", "was opened in", "1908"),
    ("Vasset & Sons", "built the dome of", "Corvane Observatory"),
    ("Vasset & Sons", "is from", "Lower Quill"),
)

SINGER = "Edda Roval\nEdda Roval is a singer. She recorded The Salt Road with her brother Jonas in Haverlin."
SINGER_NAMES = ("Edda Roval", "The Salt Road", "Jonas", "Haverlin")
SINGER_FACTS = (
    ("Edda Roval", "is a", "singer"),
    ("Edda Roval", "recorded", "The Salt Road"),
    ("Edda Roval", "recorded The Salt Road with", "Jonas"),
    ("Jonas", "is brother of", "Edda Roval"),
    ("The Salt Road", "was recorded in", "Haverlin"),
)

PASSAGES = ((OBSERVATORY, OBSERVATORY_NAMES, OBSERVATORY_FACTS), (SINGER, SINGER_NAMES, SINGER_FACTS))


def entities(passage: str, names: Texts) -> dspy.Example:
    """Show the names of a passage."""
    return dspy.Example(passage=passage, found=Entities(named_entities=names))


def triples(passage: str, names: Texts, facts: Facts) -> dspy.Example:
    """Show what a passage says of its names."""
    return dspy.Example(passage=passage, entities=list_names(names), found=Triples(triples=facts))


def recognition(question: str, facts: Texts, relevant: tuple[int, ...]) -> dspy.Example:
    """Show which facts help."""
    return dspy.Example(
        facts=numbered_items(facts, between="\n"), question=question, kept=RelevantFacts(relevant=relevant)
    )


ENTITIES = tuple(entities(passage, names) for passage, names, _ in PASSAGES)
TRIPLES = tuple(triples(passage, names, facts) for passage, names, facts in PASSAGES)
RECOGNITION = (
    recognition(
        "Where does the company that built the dome of the Corvane Observatory come from?",
        (
            "mirel thandry opened corvane observatory",
            "vasset sons built the dome of corvane observatory",
            "vasset sons is from lower quill",
            "corvane observatory was opened in 1908",
        ),
        (2, 3),
    ),
    recognition(
        "Which river flows through the home town of Ottmar Breel?",
        ("jonas is brother of edda roval", "the salt road was recorded in haverlin", "edda roval is a singer"),
        (),
    ),
    recognition(
        "Did Tessaly Orme and Bram Ulver direct their first films in the same year?",
        (
            "bram ulver directed as first film the grey ferry",
            "tessaly orme was married to hal dray",
            "tessaly orme directed as first film winter wheat",
            "the grey ferry was released in 1962",
        ),
        (1, 3, 4),
    ),
)
