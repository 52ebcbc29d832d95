"""What metrics there are: the names, labels and meanings that tables, figures and comparisons share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Group = Literal["answer", "evidence", "tokens", "latency", "memory", "diagnostics"]
Kind = Literal["binary", "fraction", "amount"]

RECALL_DEPTHS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Metric:
    """One number that a query may have."""

    name: str
    label: str
    group: Group
    kind: Kind
    """binary is 0 or 1, fraction lies between them, amount is any number from 0 on."""
    higher_is_better: bool | None
    """None where neither is better in itself."""


_ALL = (
    Metric("em", "EM", "answer", "binary", True),
    Metric("f1", "F1", "answer", "fraction", True),
    Metric("accuracy", "Accuracy", "answer", "binary", True),
    Metric("anls", "ANLS", "answer", "fraction", True),
    Metric("anls_standard", "ANLS (standard)", "answer", "fraction", True),
    Metric("title_recall", "Title recall", "evidence", "fraction", True),
    Metric("passage_found", "Passage found", "evidence", "fraction", True),
    Metric("passage_recall", "Passage recall", "evidence", "fraction", True),
    Metric("title_mention", "Title mentioned", "evidence", "fraction", True),
    Metric("answer_in_evidence", "Answer in evidence", "evidence", "binary", True),
    Metric("source_recall", "Source recall", "evidence", "fraction", True),
    *(Metric(f"recall@{k}", f"Recall@{k}", "evidence", "fraction", True) for k in RECALL_DEPTHS),
    Metric("ret", "RET", "tokens", "amount", False),
    Metric("tokens_reader", "Reader tokens", "tokens", "amount", False),
    Metric("tokens_aux", "Auxiliary tokens", "tokens", "amount", False),
    Metric("tokens_index", "Index tokens", "tokens", "amount", False),
    Metric("encoder_tokens", "Encoder tokens", "tokens", "amount", False),
    Metric("latency", "Latency (s)", "latency", "amount", False),
    Metric("latency_index", "Index latency (s)", "latency", "amount", False),
    Metric("latency_online", "Online latency (s)", "latency", "amount", False),
    Metric("latency_spared", "Spared by caches (s)", "latency", "amount", None),
    Metric("memory_reads", "Memory reads", "memory", "amount", None),
    Metric("memory_hits", "Memory hits", "memory", "amount", None),
    Metric("incomplete", "Incomplete", "diagnostics", "binary", False),
    Metric("told_right", "Told right", "diagnostics", "binary", True),
    Metric("parse_failures", "Parse failures", "diagnostics", "amount", False),
    Metric("truncations", "Context truncations", "diagnostics", "amount", False),
    Metric("cut_completions", "Cut completions", "diagnostics", "amount", False),
    Metric("admission_violations", "Admission violations", "diagnostics", "amount", False),
    Metric("rejections", "Rejections", "diagnostics", "amount", False),
    Metric("cycles", "Cycles", "diagnostics", "amount", None),
    Metric("calls", "LLM calls", "diagnostics", "amount", False),
    Metric("reader_calls", "Reader calls", "diagnostics", "amount", None),
    Metric("reached_reader", "Reached the reader", "diagnostics", "binary", True),
    Metric("evidence_records", "Evidence records", "diagnostics", "amount", None),
    Metric("transport_retries", "Transport retries", "diagnostics", "amount", False),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _ALL})
"""Every metric by its name, in the order in which tables show them."""
