"""MemoRAG: gists of a text, and what a memory made of them recalls for a question.

Outputs are lines of text and not JSON: a completion that is cut at its limit still has clues in it.
"""

import dspy


class CondenseText(dspy.Signature):  # type: ignore[misc]
    """You condense a text into its core content. Keep all key facts: names, dates, numbers and how they are connected. Leave out what is repeated or beside the point. Write plain sentences without headings or lists. Use only the text."""  # noqa: E501

    text: str = dspy.InputField(desc="Text")
    gist: str = dspy.OutputField(desc="CORE CONTENT")


class FromMemory(dspy.Signature):  # type: ignore[misc]
    """What is asked of a memory is asked for a question."""

    memory: str = dspy.InputField(desc="Memory of the article")
    question: str = dspy.InputField(desc="Question")


class RecallClues(FromMemory):
    """You know a long article by the memory of it below. For the question, recall the statements of the article that would help to answer it. Write one to four statements, each specific, with names, and on a line of its own. Write nothing else."""  # noqa: E501

    clues: str = dspy.OutputField(desc="STATEMENTS")


class AskSurrogates(FromMemory):
    """You know a long article by the memory of it below. Break the question into more precise questions that can be looked up in the article. Write one to four questions, each with the names it is about, and on a line of its own. Do not answer them. Write nothing else."""  # noqa: E501

    questions: str = dspy.OutputField(desc="QUESTIONS")


class DraftAnswer(FromMemory):
    """You know a long article by the memory of it below. Answer the question from it, directly and without explanation."""  # noqa: E501

    draft: str = dspy.OutputField(desc="ANSWER")
