"""How a query ran: what could not be read, what did not fit, and whether the reader was let in by the rules.

All of it is read off the record again, so that the controller is not its own witness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metrics.record import UNREADABLE, Action, Call, Phase, QueryRecord, Reason, StateField, VerdictLabel

STATERAG, UNCONTROLLED = "staterag", "staterag-without-mars"
OVERFLOW = "ContextOverflow"
VERDICT_OF = {Action.RELEASE: VerdictLabel.PASS, Action.FALLBACK: VerdictLabel.FAIL}
TERMINAL = (Action.BYPASS, Action.RELEASE, Action.FALLBACK)


def reader_calls(calls: Sequence[Call]) -> int:
    """Count the calls of the final reader. A transport fault that the client tried again is still one call."""
    return sum(call.phase is Phase.READER for call in calls)


def rejection_reasons(record: QueryRecord) -> tuple[Reason, ...]:
    """Give the reasons of a query's rejections, in order."""
    return tuple(rejection.reason for rejection in record.rejections)


def parse_failures(record: QueryRecord) -> int:
    """Count completions from which a required value could not be recovered: not as asked for, or cut before its end.

    A role's are among its rejections. A baseline goes on without the value, and only the record's own count, which
    has both, knows of it.
    """
    rejected = sum(reason in UNREADABLE for reason in rejection_reasons(record))
    return max(rejected, record.parse_failures)


def context_truncations(record: QueryRecord) -> int:
    """Count the prompts that did not fit their model's context.

    The paper counts context truncations without defining them; its free-form trajectory, which grows, has more of
    them, so they are of prompts. Here such a prompt is refused and not cut. A role's refusal is also a rejection;
    the two are one event. Completions that reach their token limit are another matter (`cut_completions`), and so is
    evidence cut to the reader's budget, which is the rule.
    """
    refused = sum(str(call.error).startswith(OVERFLOW) for call in record.calls)
    return max(refused, rejection_reasons(record).count(Reason.OVER_CONTEXT))


def admission_violations(record: QueryRecord) -> tuple[str, ...]:
    """Check again that the reader was admitted by the rules, and name each rule that was broken.

    Of any method: the reader is called at most once, not on a query that stays incomplete although it answered, and
    with no evidence id twice. Of a query under the controller, also: after BYPASS, RELEASE or FALLBACK only, never
    after a rejection, the action agrees with the verdict committed last, and the evidence is what was committed.
    """
    complete = record.is_complete
    readings = [call for call in record.calls if call.phase is Phase.READER]
    ids = [item.evidence_id for item in record.evidence]
    broken = {
        "reader_called_again": len(readings) > 1,
        "reader_answered_an_incomplete_query": not complete and any(call.error is None for call in readings),
        "repeated_evidence": len(set(ids)) < len(ids),
    }
    if _is_controlled(record) and (complete or readings):
        broken |= {
            "reader_without_terminal_action": record.action not in TERMINAL,
            "reader_after_rejection": bool(record.rejections),
            "action_against_verdict": not _agrees_with_verdict(record),
            "uncommitted_evidence": not _is_committed(record, ids),
        }
    return tuple(name for name, is_broken in broken.items() if is_broken)


def diagnostic_scores(record: QueryRecord) -> dict[str, float]:
    """Give a query's diagnostics under their metrics' names."""
    calls = record.calls
    readings = reader_calls(calls)
    return {
        "incomplete": float(not record.is_complete),
        "parse_failures": parse_failures(record),
        "truncations": context_truncations(record),
        "cut_completions": sum(call.truncated for call in calls),
        "admission_violations": len(admission_violations(record)),
        "rejections": len(record.rejections),
        "cycles": record.cycles,
        "calls": len(calls),
        "reader_calls": readings,
        "reached_reader": float(readings > 0),
        "transport_retries": sum(call.transport_retries for call in calls),
        "evidence_records": len(record.evidence),
    }


def _is_controlled(record: QueryRecord) -> bool:
    """Tell whether a controller ran the query: it commits before it does anything else.

    Baselines have no state, and of StateRAG and its variants the one without MARS has none. Each of the others is
    under a controller even where its record shows nothing of one, which is then a broken rule.
    """
    controlled = record.method == STATERAG or record.method.startswith(f"{STATERAG}-")
    return (controlled and record.method != UNCONTROLLED) or record.action is not None or bool(record.states)


def _agrees_with_verdict(record: QueryRecord) -> bool:
    """Compare the action with the last committed verdict, where a typed one was committed."""
    if record.action not in VERDICT_OF:
        return record.action is not Action.BYPASS or record.cycles == 0
    verdicts = list(record.committed(StateField.VERDICT).values())
    if not verdicts or not isinstance(verdicts[-1], Mapping):
        return True
    return bool(verdicts[-1].get("label") == VERDICT_OF[record.action])


def _is_committed(record: QueryRecord, ids: list[str]) -> bool:
    """Tell whether admitted evidence was committed: by the last cycle for RELEASE, by any for FALLBACK."""
    commits = list(record.committed_evidence().values())
    if record.action not in VERDICT_OF or not commits:
        return True
    counted = commits[-1:] if record.action is Action.RELEASE else commits
    return {item.evidence_id for value in counted for item in value}.issuperset(ids)
