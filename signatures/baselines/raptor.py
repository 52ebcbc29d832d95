"""RAPTOR: a text that stands for a cluster of passages or of summaries."""

import dspy


class SummariseCluster(dspy.Signature):  # type: ignore[misc]
    """You summarise passages that belong together. Write one paragraph of at most three sentences that keeps as many key details as possible: who, what, when, where, and how they are connected. Use only the passages."""  # noqa: E501

    passages: str = dspy.InputField(desc="Passages")
    summary: str = dspy.OutputField(desc="SUMMARY")
