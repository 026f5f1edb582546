"""What prompts are rendered with in tests."""

from agent_judge.rubrics.prompts import PromptContext

PLAIN = PromptContext(
    edit_type=None,
    has_reference=False,
    cropped=False,
    masked=False,
    alone=False,
    several_targets=False,
    convention="Write boxes as four numbers.",
)
