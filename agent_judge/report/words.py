"""What reasons and fates mean, in one sentence each, for people who read a report."""

from __future__ import annotations

from collections.abc import Mapping

from agent_judge.records import Reason, Status

FATES: Mapping[Status, str] = {
    "scored": "The judge named a level.",
    "missing_output": "The editing model wrote no picture.",
    "invalid_image": "The editing model's file is no picture that can be read.",
    "unscored": "The row or the judge did not allow a level; the reason says why.",
}
NOT_RUN = "The run was stopped before this row; running it again judges it."
REASONS: Mapping[Reason, str] = {
    "invalid_source": "The source or reference picture cannot be read.",
    "invalid_box": "The target box is missing or does not fit the picture.",
    "geometry_changed": "The edited picture has another shape than a scale or bars could explain.",
    "refused": "The model declined to judge.",
    "blocked": "The provider's content filter stopped the reply.",
    "unparseable": "The model's answer could not be read, even when asked again.",
    "inconsistent": "The label contradicted the model's own answers, twice.",
    "truncated": "The reply was cut off at the token limit.",
    "transport": "The endpoint could not be reached or kept failing.",
    "timeout": "No verdict within the time allowed for a sample.",
    "endpoint_rejected": "The endpoint refused the request for good.",
    "step_limit": "The model went on calling tools when no tool turn was left.",
    "budget": "The money or token cap of the run was reached.",
    "context_limit": "The conversation grew too long for the model.",
    "tool_failure": "A tool broke while the judge was looking.",
    "needs_lmm": "Pixels alone cannot decide this: it takes a multimodal model.",
    "internal_error": "A fault of this program; its traceback is among the notes.",
}
