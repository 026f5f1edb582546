"""The embedded judge on the far side of a wire: it sees only what a request carries.

With the model name `agent-judge-measured` pictures go out as they are, so its verdicts are those of
the judge in the house: the wire changes nothing.

    with LoopbackEndpoint(measured, models=["agent-judge-measured"]) as endpoint: ...
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from agent_judge.images import decode_image
from agent_judge.judges.measured import decide
from agent_judge.testing.answers import Answer
from agent_judge.testing.request import ChatRequest, decode_data_url


def measured(request: ChatRequest) -> Answer:
    """The policy: the embedded judge's next message."""
    return Answer(message=decide(request.messages, request.tool_names, _pixels_of))


@lru_cache(maxsize=64)
def _pixels_of(url: str) -> NDArray[np.uint8]:
    _, data = decode_data_url(url)
    return decode_image(data).pixels
