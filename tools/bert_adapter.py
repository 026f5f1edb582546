"""Lets groundingdino-py 0.4.0 build its text encoder with transformers 5, without the network.

The package wraps a BertModel by methods that transformers 5 removed, and asks the hub for weights
that its checkpoints bring along anyway. A test says when this file can go.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def text_encoder(tokenizer: Any, bert: Any) -> Iterator[None]:  # noqa: ANN401 - untyped packages
    """While it is open, the package builds networks around this tokenizer and this BertModel.

    Warnings of the package about its own dependencies are kept from the user meanwhile.

    Args:
        tokenizer: A fast BERT tokenizer.
        bert: A `transformers.BertModel`; its weights are overwritten by the checkpoint's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old names of timm and torch in the package
        import groundingdino.models.GroundingDINO.groundingdino as package
        from groundingdino.util import get_tokenlizer

        with _replaced(package, get_tokenlizer, tokenizer, bert):
            yield


@contextmanager
def _replaced(package: Any, get_tokenlizer: Any, tokenizer: Any, bert: Any) -> Iterator[None]:  # noqa: ANN401
    replaced = (
        (package, "BertModelWarper", _wrapper()),
        (get_tokenlizer, "get_tokenlizer", lambda name: tokenizer),
        (get_tokenlizer, "get_pretrained_language_model", lambda name: bert),
    )
    before = [getattr(module, name) for module, name, _ in replaced]
    for module, name, ours in replaced:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for (module, name, _), theirs in zip(replaced, before, strict=True):
            setattr(module, name, theirs)


def _wrapper() -> type:
    import torch
    from torch import nn
    from transformers.modeling_outputs import BaseModelOutputWithPooling

    class Wrapper(nn.Module):  # type: ignore[misc]
        """A BertModel under the package's parameter names, with a mask for each pair of tokens."""

        def __init__(self, bert_model: Any) -> None:  # noqa: ANN401
            super().__init__()
            self.config = bert_model.config
            self.embeddings = bert_model.embeddings
            self.encoder = bert_model.encoder
            self.pooler = bert_model.pooler

        def forward(
            self,
            input_ids: Any,  # noqa: ANN401
            attention_mask: Any,  # noqa: ANN401
            token_type_ids: Any = None,  # noqa: ANN401
            position_ids: Any = None,  # noqa: ANN401
        ) -> Any:  # noqa: ANN401
            hidden = self.embeddings(
                input_ids=input_ids, token_type_ids=token_type_ids, position_ids=position_ids
            )
            # (batch, query, key) as the package builds it, so that phrases do not see each other;
            # BERT's encoder wants it additive and with a place for the heads.
            hidden_from = 1.0 - attention_mask[:, None].to(hidden.dtype)
            mask = hidden_from * torch.finfo(hidden.dtype).min
            hidden = self.encoder(hidden, attention_mask=mask)[0]
            return BaseModelOutputWithPooling(
                last_hidden_state=hidden, pooler_output=self.pooler(hidden)
            )

    return Wrapper
