"""Two folders and a table become a manifest: matched by stem, nothing dropped in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_judge.errors import InputError
from agent_judge.formats.folder import import_folders
from agent_judge.manifest import check_manifest, read_manifest, write_manifest


def lay_out(folder: Path, sources: str, outputs: str, table: str) -> tuple[Path, Path, Path]:
    for name, files in (("before", sources), ("after", outputs)):
        (folder / name).mkdir()
        for file in files.split():
            (folder / name / file).touch()
    (folder / "table.csv").write_text(table, encoding="utf-8")
    return folder / "before", folder / "after", folder / "table.csv"


def test_outputs_are_matched_by_stem_not_by_order(tmp_path):
    paths = lay_out(
        tmp_path,
        "a.jpg b.jpg c.jpg",
        "a.png c.png",
        "file,instruction\na,one\nb.jpg,two\nc,three\n",
    )
    plan = import_folders(*paths, editor="model-x")
    pairs = [(s.id, s.source.name, s.edited.name, s.instruction) for s in plan.samples]
    assert pairs == [
        ("a", "a.jpg", "a.png", "one"),
        ("b", "b.jpg", "b.png", "two"),
        ("c", "c.jpg", "c.png", "three"),
    ]
    assert plan.missing == ("b",)
    assert {s.editor for s in plan.samples} == {"model-x"}
    assert not plan.samples[1].edited.exists()


def test_the_summary_counts_every_kind(tmp_path):
    paths = lay_out(
        tmp_path,
        "a.jpg b.jpg x.jpg notes.txt",
        "a.png z.png",
        "stem,instruction\na,one\nb,two\nq,w\n",
    )
    plan = import_folders(*paths)
    assert plan.summary().splitlines() == [
        "found    3 sources, 2 outputs, 3 instructions",
        "matched  1",
        "missing  1: b",
        "odd      3: source 'x.jpg' without an instruction; 'notes.txt' among the sources is no "
        "picture; output 'z.png' without an instruction",
        f"faults   1: {paths[2]}:4: stem: no source has the stem 'q'",
    ]


@pytest.mark.parametrize(
    ("sources", "outputs", "table", "message"),
    [
        ("a.jpg a.png", "a.png", "stem,instruction\na,x\n", "several sources have the stem 'a'"),
        (
            "a.jpg",
            "a.jpg a.png",
            "file,instruction\na.jpg,x\n",
            "several outputs have the stem 'a'",
        ),
        ("Cat.jpg", "Cat.png", "stem,instruction\ncat,x\n", "there is 'Cat.jpg'"),
        ("a.jpg", "a.png", "stem,instruction\na,x\na,y\n", "'a' is the id of line 2 too"),
        ("a.jpg", "a.png", "picture,instruction\na,x\n", "expected a column source or stem"),
        (
            "a.jpg",
            "a.png",
            "stem,prompt\na,x\n",
            "rename the one that holds the texts (stem, prompt)",
        ),
        ("a.jpg", "a.png", "stem,instruction\na\n", "1 cells, where the header has 2"),
    ],
)
def test_what_cannot_be_matched_is_a_fault_with_its_line(
    tmp_path, sources, outputs, table, message
):
    plan = import_folders(*lay_out(tmp_path, sources, outputs, table))
    assert message in "\n".join(map(str, plan.faults))
    assert "table.csv:" in str(plan.faults[0])


def test_a_named_suffix_chooses_between_two_sources(tmp_path):
    paths = lay_out(tmp_path, "a.jpg a.png", "a.png", "file,instruction\na.jpg,x\n")
    assert import_folders(*paths).samples[0].source.name == "a.jpg"


def test_one_source_may_have_several_outputs_named_apart(tmp_path):
    table = "source,output,instruction,type\na,a-red,redden,color\na,a-gone.png,remove,removal\n"
    plan = import_folders(*lay_out(tmp_path, "a.jpg", "a-red.png a-gone.png", table))
    assert [(s.id, s.edited.name, s.type) for s in plan.samples] == [
        ("a-red", "a-red.png", "color"),
        ("a-gone", "a-gone.png", "removal"),
    ]


def test_stems_with_dots_are_kept_whole(tmp_path):
    plan = import_folders(*lay_out(tmp_path, "a.v1.jpg", "a.v1.png", "stem,instruction\na.v1,x\n"))
    assert plan.samples[0].edited.name == "a.v1.png"


def test_the_written_manifest_reads_back_to_the_same_samples(tmp_path):
    table = 'stem,instruction,boxes,shot\na,x,"[[1, 2, 30, 40]]",outdoors\n'
    plan = import_folders(*lay_out(tmp_path, "a.jpg", "a.png", table))
    path = tmp_path / "manifest.jsonl"
    write_manifest(path, plan.samples)
    assert check_manifest(path) == 1
    assert tuple(read_manifest(path)) == plan.samples
    assert '"source": "before/a.jpg"' in path.read_text(encoding="utf-8")
    assert plan.samples[0].metadata == {"shot": "outdoors"}


def test_a_missing_folder_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        import_folders(tmp_path / "no", tmp_path, tmp_path / "table.csv")
