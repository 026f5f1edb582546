"""Both loaders on tiny random networks: saved, loaded by the real code, all without a network."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from skimage import data

from agent_judge.errors import ToolError, WeightsError
from agent_judge.records import Box
from agent_judge.tools.base import View
from agent_judge.tools.detector import UNKNOWN
from agent_judge.tools.grounding import GroundingTool
from agent_judge.tools.grounding_dino import _Job, network_input
from agent_judge.tools.loaded import shared_detector
from agent_judge.tools.tiled_search import search
from tests.networks import BERT, WORDS, fill_zeros

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(find_spec("groundingdino") is None, reason="needs agent-judge[models]"),
    pytest.mark.filterwarnings("ignore:`torch.cuda.amp.autocast:FutureWarning"),
]

CAPTION = "red cup . container . container number ."
PHRASES = ["red cup", "container", "container number"]


@dataclass(frozen=True, kw_only=True)
class Published:
    """A network in the publisher's layout, and what it gave for `strip()` before it was saved."""

    path: Path
    logits: NDArray[np.float32]
    boxes: NDArray[np.float32]


def strip(seed=0, width=320, height=16):
    """So thin that the detector sees few pixels: fast."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory, torch):
    """A tiny random network in the publisher's layout, built by the package's own code."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    from agent_judge.tools.bert_adapter import text_encoder

    folder = tmp_path_factory.mktemp("groundingdino")
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    small = {"enc_layers": 1, "dec_layers": 1, "num_queries": 20, "bert": BERT}
    (folder / "tiny.json").write_text(json.dumps(small), encoding="utf-8")
    torch.manual_seed(0)
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"))
    with text_encoder(tokenizer, BertModel(BertConfig(**BERT))):
        import groundingdino.config.GroundingDINO_SwinT_OGC as published
        from groundingdino.models import build_model

        settings = {k: v for k, v in vars(published).items() if not k.startswith("_")}
        settings |= {**small, "use_checkpoint": False, "use_transformer_ckpt": False}
        net = build_model(SimpleNamespace(**settings, device="cpu")).eval()
    fill_zeros(net)
    with torch.inference_mode():
        out = net(torch.from_numpy(network_input(strip()))[None], captions=[CAPTION])
    state = {f"module.{name}": values for name, values in net.state_dict().items()}
    path = folder / "tiny.pth"
    torch.save({"model": state}, path)
    yield Published(
        path=path, logits=out["pred_logits"][0].numpy(), boxes=out["pred_boxes"][0].numpy()
    )
    path.unlink()


@pytest.fixture(scope="module")
def by_package(checkpoint):
    from agent_judge.tools.grounding_dino import load_package

    return load_package(checkpoint.path, checkpoint.path.with_name("vocab.txt"), "cpu")


@pytest.fixture(scope="module")
def by_transformers(grounding_dino):
    from agent_judge.tools.grounding_dino import load_transformers

    return load_transformers(str(grounding_dino.path), "cpu")


@pytest.fixture(params=["by_package", "by_transformers"])
def detector(request):
    return request.getfixturevalue(request.param)


def test_candidates_have_pixel_boxes_inside_and_a_requested_phrase(detector):
    pixels = strip()
    (found,) = detector.find([pixels], PHRASES)
    assert found
    for candidate in found:
        assert candidate.box.clip((320, 16)) == candidate.box
        assert candidate.phrase in (*PHRASES, UNKNOWN)
        assert 0 <= candidate.score <= 1
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)


def test_pictures_found_together_equal_pictures_found_alone(detector):
    pictures = [strip(1), strip(2), strip(3, width=300)]
    together = detector.find(pictures, PHRASES)
    assert together == [detector.find([picture], PHRASES)[0] for picture in pictures]


def test_batch_gives_what_its_pictures_give_alone(detector):
    """As on CUDA; on the CPU pictures are run one by one."""
    captions = [CAPTION, "blue cup . box . container number ."]
    jobs = [
        _Job(planes=network_input(strip(seed)), caption=captions[seed % 2], tokens=11)
        for seed in range(3)
    ]
    for job, together in zip(jobs, detector._run(jobs), strict=True):
        alone = detector._run([job])[0]
        assert all(np.allclose(a, b, atol=1e-4) for a, b in zip(together, alone, strict=True))


def test_tiled_search_runs_on_the_real_interface(detector):
    result = search(strip(4, width=3000), ["red cup"], detector)
    assert len(result.looks) > 1
    assert all(found.box.clip((3000, 16)) == found.box for found in result.found)


@pytest.mark.parametrize("size_wh", [(1, 1), (3, 1000)])
def test_pictures_of_any_size_are_taken(by_transformers, size_wh):
    by_transformers.find([strip(width=size_wh[0], height=size_wh[1])], ["cup"])


def test_phrases_too_long_for_the_network_are_refused(detector):
    with pytest.raises(ToolError, match="at most 256"):
        detector.find([strip()], ["red " * 300])


@pytest.fixture
def outputs(detector, checkpoint, grounding_dino, by_package, torch):
    """What the network gave before it was saved."""
    if detector is by_package:
        return checkpoint.logits, checkpoint.boxes
    planes = torch.from_numpy(network_input(strip()))[None]
    with torch.inference_mode():
        words = grounding_dino.tokenizer([CAPTION], return_tensors="pt")
        out = grounding_dino.net(pixel_values=planes, **words)
    return out.logits[0].numpy(), out.pred_boxes[0].numpy()


def test_loaded_network_gives_the_outputs_of_the_saved_one(detector, outputs, torch):
    logits, expected = outputs
    scores, boxes = detector._worker(
        _Job(planes=network_input(strip()), caption=CAPTION, tokens=11)
    )
    assert np.allclose(scores, torch.from_numpy(logits).sigmoid().numpy(), atol=1e-5)
    assert np.allclose(boxes, expected, atol=1e-5)
    assert np.ptp(boxes) > 0


def test_text_encoder_equals_transformers_own_and_hides_phrases_from_each_other(torch):
    """Position for position what BertModel gives with the same mask (an independent path)."""
    from transformers import BertConfig, BertModel

    from agent_judge.tools.bert_adapter import _wrapper

    torch.manual_seed(2)
    bert = BertModel(BertConfig(**BERT)).eval()
    ids = torch.tensor([[2, 9, 11, 5, 13, 5, 3]])
    other = torch.tensor([[2, 9, 11, 5, 12, 5, 3]])
    phrase = torch.tensor([0, 1, 1, 1, 2, 2, 3])
    mask = (phrase[:, None] == phrase[None, :])[None]
    with torch.inference_mode():
        ours, changed = (_wrapper()(bert)(i, mask).last_hidden_state for i in (ids, other))
        additive = (~mask[:, None]).float() * torch.finfo(torch.float32).min
        theirs = bert(ids, attention_mask=additive).last_hidden_state
    assert torch.allclose(ours, theirs, atol=1e-6)
    assert torch.equal(ours[:, :4], changed[:, :4])
    assert not torch.equal(ours[:, 4], changed[:, 4])


def test_text_encoder_adapter_is_still_needed_and_leaves_the_package_as_it_was(by_package):
    """Case T02."""
    import groundingdino.models.GroundingDINO.groundingdino as package
    from groundingdino.models.GroundingDINO import bertwarper
    from transformers import BertModel

    assert package.BertModelWarper is bertwarper.BertModelWarper
    assert not hasattr(BertModel, "get_head_mask"), "transformers has it again: the adapter can go"


def test_importing_the_tools_loads_no_network_library():
    code = (
        "import sys, agent_judge.tools.toolbox, agent_judge.tools.grounding_dino;"
        "print([m for m in ('torch', 'groundingdino', 'realesrgan', 'ncnn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_files_that_hold_no_such_network_are_refused(tmp_path, checkpoint, torch):
    from agent_judge.tools.grounding_dino import load_package, load_transformers

    vocabulary = checkpoint.path.with_name("vocab.txt")
    contents = [{"model": {"a": torch.zeros(1)}}, [1, 2], {"model": 3}, {"model": print}]
    for number, content in enumerate(contents):
        path = tmp_path / f"{number}.pth"
        torch.save(content, path)
        with pytest.raises(WeightsError, match=f"{number}.pth"):
            load_package(path, vocabulary, "cpu")
    with pytest.raises(WeightsError, match="no GroundingDino checkpoint"):
        load_transformers(str(tmp_path), "cpu")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param(
            "tiny.json",
            json.dumps({"enc_layers": 1, "dec_layers": 1, "bert": BERT}).encode(),
            "does not fit: .*size mismatch",
            id="settings of others",
        ),
        pytest.param("tiny.json", b"{", "holds no settings", id="broken settings"),
        pytest.param("vocab.txt", b"[UNK]\n", "has 5 words, its network 16", id="few words"),
        pytest.param("vocab.txt", bytes(range(256)), "is no vocabulary", id="no text"),
    ],
)
def test_files_beside_a_checkpoint_that_do_not_fit_are_told(
    tmp_path, checkpoint, name, content, message
):
    from agent_judge.tools.grounding_dino import load_package

    for beside in ("tiny.json", "vocab.txt"):
        (tmp_path / beside).write_bytes(checkpoint.path.with_name(beside).read_bytes())
    (tmp_path / "tiny.pth").symlink_to(checkpoint.path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(WeightsError, match=message) as caught:
        load_package(tmp_path / "tiny.pth", tmp_path / "vocab.txt", "cpu")
    assert "\n" not in str(caught.value)


def without_words(folder):
    for path in (folder / "tokenizer.json", folder / "vocab.txt"):
        path.unlink()


def of_other_layers(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "decoder_layers": 3}))


def of_other_sizes(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_queries": 30}))


def cut_short(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(without_words, r"has \d+ words, its network 16", id="no word is known"),
        pytest.param(of_other_layers, "lacks 36 weights", id="made up at random"),
        pytest.param(of_other_sizes, "no GroundingDino checkpoint", id="other sizes"),
        pytest.param(cut_short, "no GroundingDino checkpoint", id="cut short"),
    ],
)
def test_folder_that_would_be_blind_or_is_damaged_is_refused(
    tmp_path, grounding_dino, damage, message
):
    from agent_judge.tools.grounding_dino import load_transformers

    shutil.copytree(grounding_dino.path, tmp_path, dirs_exist_ok=True)
    damage(tmp_path)
    with pytest.raises(WeightsError, match=message):
        load_transformers(str(tmp_path), "cpu")


def test_a_network_of_shorter_texts_refuses_longer_phrases(tmp_path, grounding_dino):
    from agent_judge.tools.grounding_dino import load_transformers

    shutil.copytree(grounding_dino.path, tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "max_text_len": 8}))
    detector = load_transformers(str(tmp_path), "cpu")
    assert detector.find([strip()], ["red cup", "box"])
    with pytest.raises(ToolError, match="at most 8"):
        detector.find([strip()], PHRASES)


def test_checkpoint_that_lacks_weights_is_refused(tmp_path, checkpoint, torch):
    from agent_judge.tools.grounding_dino import load_package

    state = torch.load(checkpoint.path, weights_only=True)["model"]
    del state["module.feat_map.weight"]
    torch.save(state, tmp_path / "part.pth")
    (tmp_path / "part.json").write_bytes(checkpoint.path.with_suffix(".json").read_bytes())
    with pytest.raises(WeightsError, match=r"lacks 1 weights, 'feat_map\.weight'"):
        load_package(tmp_path / "part.pth", checkpoint.path.with_name("vocab.txt"), "cpu")
    (tmp_path / "part.pth").unlink()


@pytest.mark.parametrize("kind", ["checkpoint", "grounding_dino"])
def test_tool_takes_a_pth_file_and_a_transformers_folder(kind, request):
    weights = request.getfixturevalue(kind).path
    view = View(source=strip(), edited=strip(1))
    tool = GroundingTool(weights=str(weights), device="cpu")
    reply = tool(view, {"picture": "edited", "phrases": PHRASES, "region": [10, 0, 200, 16]})
    assert reply.data["searched_box_px"] == [10, 0, 200, 16]
    assert reply.data["candidates"]
    for candidate in reply.data["candidates"]:
        assert Box(*candidate["box_px"]).clip((320, 16)) == Box(*candidate["box_px"])
    assert shared_detector(str(weights), "cpu") is shared_detector(str(weights), "cpu")


def test_missing_vocabulary_is_named(tmp_path):
    (tmp_path / "net.pth").write_bytes(b"")
    with pytest.raises(WeightsError, match=r"vocab\.txt"):
        shared_detector(str(tmp_path / "net.pth"), "cpu")


@pytest.mark.weights
def test_real_weights_find_the_astronaut():
    """AGENT_JUDGE_WEIGHTS: a `.pth` file, a folder of transformers or a known name."""
    weights = os.environ.get("AGENT_JUDGE_WEIGHTS")
    if not weights:
        pytest.skip("AGENT_JUDGE_WEIGHTS is not set")
    detector = shared_detector(weights, "auto")
    (found,) = detector.find([data.astronaut()], ["a woman", "space shuttle"])
    boxes = {c.phrase: c.box for c in reversed(found)}
    assert boxes["a woman"].iou(Box(0, 0, 460, 512)) > 0.6
    assert boxes["space shuttle"].x1 > 256


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["package", "transformers"])
def test_cuda_and_cpu_find_the_same_boxes_within_a_pixel(kind, request, torch):
    """And scores within 0.01, both in full precision: TF32 swaps boxes that are as likely."""
    from agent_judge.tools.grounding_dino import load_package, load_transformers

    def load(device):
        if kind == "transformers":
            return load_transformers(str(request.getfixturevalue("grounding_dino").path), device)
        path = request.getfixturevalue("checkpoint").path
        return load_package(path, path.with_name("vocab.txt"), device)

    pictures = [strip(seed) for seed in range(6)]  # more than one batch
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        found = load("cuda").find(pictures, PHRASES)
    assert_same(found, load("cpu").find(pictures, PHRASES))


def assert_same(found, expected):
    """Whatever the order of candidates of nearly the same score."""
    for here, there in zip(found, expected, strict=True):
        assert [len(here), *sorted(c.phrase for c in here)] == [
            len(there),
            *sorted(c.phrase for c in there),
        ]
        for one in there:
            nearest = min(here, key=lambda c: np.abs(np.subtract(c.box.xyxy, one.box.xyxy)).max())
            assert np.allclose(nearest.box.xyxy, one.box.xyxy, atol=1)
            assert nearest.score == pytest.approx(one.score, abs=0.01)
