"""Tiny random networks in the layouts that the real loaders read: fixtures of all tests, offline.

Whatever takes one needs the extra `models`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CLIP_SIDE_PX, SAM_SIDE_PX = 32, 64
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", "'", "-"]
WORDS += ["red", "blue", "cup", "box", "container", "number", "fruit"]
"""All that the detectors read."""
BERT = {
    "vocab_size": len(WORDS),
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A network on disk, and the same as it was before it was saved."""

    path: Path
    net: Any
    tokenizer: Any


@pytest.fixture(scope="session")
def torch():
    import torch

    return torch


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory, torch) -> Saved:
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPTokenizer

    folder = tmp_path_factory.mktemp("clip")
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = [*letters, *(f"{c}</w>" for c in letters), "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: n for n, word in enumerate(words)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    tokenizer = CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    small = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "projection_dim": 8,
    }
    end = vocabulary["<|endoftext|>"]
    text = {**small, "vocab_size": len(words), "eos_token_id": end, "bos_token_id": end - 1}
    config = CLIPConfig(
        text_config={**text, "max_position_embeddings": 24},
        vision_config={**small, "image_size": CLIP_SIDE_PX, "patch_size": 8},
        projection_dim=8,
    )
    torch.manual_seed(0)
    net = CLIPModel(config).eval()
    square = {"height": CLIP_SIDE_PX, "width": CLIP_SIDE_PX}
    images = CLIPImageProcessor(size={"shortest_edge": CLIP_SIDE_PX}, crop_size=square)
    net.save_pretrained(folder)
    CLIPProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    return Saved(path=folder, net=net, tokenizer=tokenizer)


@pytest.fixture(scope="session")
def sam(tmp_path_factory: pytest.TempPathFactory, torch) -> Path:
    from transformers import SamConfig, SamImageProcessor, SamModel, SamProcessor

    vision = {
        "hidden_size": 16,
        "output_channels": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": SAM_SIDE_PX,
        "patch_size": 8,
        "mlp_dim": 16,
        "window_size": 2,
        "global_attn_indexes": [0],
        "num_pos_feats": 4,
    }
    prompt = {
        "hidden_size": 8,
        "image_size": SAM_SIDE_PX,
        "patch_size": 8,
        "mask_input_channels": 4,
        "image_embedding_size": SAM_SIDE_PX // 8,
    }
    decoder = {"hidden_size": 8, "mlp_dim": 16, "num_attention_heads": 2, "iou_head_hidden_dim": 8}
    config = SamConfig(
        vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=decoder
    )
    torch.manual_seed(0)
    square = {"height": SAM_SIDE_PX, "width": SAM_SIDE_PX}
    images = SamImageProcessor(size={"longest_edge": SAM_SIDE_PX}, pad_size=square)
    folder = tmp_path_factory.mktemp("sam")
    SamModel(config).save_pretrained(folder)
    SamProcessor(image_processor=images).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def sam2(tmp_path_factory: pytest.TempPathFactory, torch) -> Path:
    from transformers import Sam2Config, Sam2ImageProcessor, Sam2Model, Sam2Processor

    hiera = {
        "model_type": "sam2_hiera_det_model",
        "hidden_size": 8,
        "num_attention_heads": 1,
        "blocks_per_stage": [1, 1, 2, 1],
        "embed_dim_per_stage": [8, 16, 32, 64],
        "num_attention_heads_per_stage": [1, 1, 1, 1],
        "window_size_per_stage": [4, 4, 4, 4],
        "global_attention_blocks": [3],
        "image_size": [SAM_SIDE_PX, SAM_SIDE_PX],
        "window_positional_embedding_background_size": [2, 2],
    }
    vision = {
        "backbone_config": hiera,
        "backbone_channel_list": [64, 32, 16, 8],
        "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        "fpn_hidden_size": 16,
        "num_feature_levels": 3,
    }
    prompt = {
        "hidden_size": 16,
        "image_size": SAM_SIDE_PX,
        "patch_size": 16,
        "mask_input_channels": 4,
    }
    decoder = {"hidden_size": 16, "mlp_dim": 16, "num_attention_heads": 2, "iou_head_hidden_dim": 8}
    config = Sam2Config(
        vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=decoder
    )
    torch.manual_seed(0)
    square, quarter = ({"height": side, "width": side} for side in (SAM_SIDE_PX, SAM_SIDE_PX // 4))
    images = Sam2ImageProcessor(size=square, mask_size=quarter)
    folder = tmp_path_factory.mktemp("sam2")
    Sam2Model(config).save_pretrained(folder)
    Sam2Processor(image_processor=images).save_pretrained(folder)
    return folder


def fill_zeros(net: Any) -> None:
    """Random values where a network starts with zeros: its boxes hang on the picture then."""
    for values in net.parameters():
        if not values.any():
            values.data.normal_(0, 0.1)


@pytest.fixture(scope="session")
def grounding_dino(tmp_path_factory: pytest.TempPathFactory, torch) -> Saved:
    """A detector in the layout of transformers."""
    from transformers import BertTokenizerFast, GroundingDinoConfig, GroundingDinoForObjectDetection

    folder = tmp_path_factory.mktemp("transformers")
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    swin = {
        "model_type": "swin",
        "embed_dim": 8,
        "depths": [1, 1, 1, 1],
        "num_heads": [1, 1, 1, 1],
        "out_indices": [2, 3, 4],
    }
    config = GroundingDinoConfig(
        backbone_config=swin,
        text_config={"model_type": "bert", **BERT},
        d_model=32,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        num_queries=20,
    )
    torch.manual_seed(1)
    net = GroundingDinoForObjectDetection(config).eval()
    fill_zeros(net)
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"))
    net.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Saved(path=folder, net=net, tokenizer=tokenizer)
