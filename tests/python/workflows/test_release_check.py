"""`scripts/release_check.py`: which tags and which files it refuses, and why."""

from __future__ import annotations

import io
import json
import subprocess
import zipfile
from pathlib import Path

import pytest
import release_check

TAG = "v1.2.0"
FILES = {
    "manylinux-x86_64": "dataaccess-1.2.0-cp311-abi3-manylinux_2_28_x86_64.whl",
    "manylinux-aarch64": "dataaccess-1.2.0-cp311-abi3-manylinux_2_28_aarch64.whl",
    "musllinux-x86_64": "dataaccess-1.2.0-cp311-abi3-musllinux_1_2_x86_64.whl",
    "musllinux-aarch64": "dataaccess-1.2.0-cp311-abi3-musllinux_1_2_aarch64.whl",
    "macos-arm64": "dataaccess-1.2.0-cp311-abi3-macosx_11_0_arm64.whl",
    "macos-x86_64": "dataaccess-1.2.0-cp311-abi3-macosx_10_12_x86_64.whl",
    "windows-x86_64": "dataaccess-1.2.0-cp311-abi3-win_amd64.whl",
    "sdist": "dataaccess-1.2.0.tar.gz",
}


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S603, S607


def commit(folder: Path, *, version: str = "1.2.0", locked: str = "1.2.0", heading: str = "1.2.0 (2026-11-25)") -> None:
    (folder / "Cargo.toml").write_text(f'[package]\nname = "dataaccess"\nversion = "{version}"\n', encoding="utf-8")
    (folder / "Cargo.lock").write_text(f'[[package]]\nname = "dataaccess"\nversion = "{locked}"\n', encoding="utf-8")
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\nurls.Source = "https://x"\n', encoding="utf-8")
    if not (folder / "README.md").exists():
        (folder / "README.md").write_text("See [the pages](https://x/docs) and [below](#below).\n", encoding="utf-8")
    page = f"# Changelog\n\n## {heading}\n\n- New.\n\n## 1.1.0 (2026-10-01)\n\n- Old.\n"
    (folder / "CHANGELOG.md").write_text(page, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "A commit")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository whose branch `main` has one commit."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    commit(tmp_path)
    return tmp_path


def planned(checkout: Path, tag: str = TAG) -> str:
    return "\n".join(release_check.plan(checkout, tag, "main"))


@pytest.mark.parametrize("annotated", [False, True])
def test_a_tag_of_main_with_its_version_and_a_dated_heading_is_accepted(checkout: Path, *, annotated: bool) -> None:
    git(checkout, "tag", *(["--annotate", "--message", TAG] if annotated else []), TAG)
    assert planned(checkout) == ""


def test_a_page_that_knows_of_no_release_is_refused(checkout: Path) -> None:
    (checkout / "docs").mkdir()
    text = "No release is on the public\nindex yet. A package of this name is another one.\n"
    for name in ("versions.md", "releasing.md"):
        (checkout / "docs" / name).write_text(text, encoding="utf-8")
    commit(checkout)
    git(checkout, "tag", TAG)
    assert planned(checkout).splitlines() == [
        "docs/versions.md has `No release is on the public index`: say what is true from now on",
        "docs/versions.md has `package of this name`: say what is true from now on",
    ]


def test_the_index_needs_addresses(checkout: Path) -> None:
    (checkout / "README.md").write_text("See [a](CHANGELOG.md) and [b](SECURITY.md#x).\n", encoding="utf-8")
    commit(checkout)
    (checkout / "pyproject.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")
    git(checkout, "commit", "--quiet", "--all", "--message", "No addresses")
    git(checkout, "tag", TAG)
    assert planned(checkout).splitlines() == [
        "pyproject.toml has no [project.urls]: name the source, the documentation and the changelog",
        "README.md has 2 links that do not work on the index, such as `CHANGELOG.md`: add the address",
    ]


@pytest.mark.parametrize("tag", ["1.2.0", "v1.2", "v1.2.0rc1", "v1.2.0 ", "main", "v1.2.0;true"])
def test_only_tags_of_three_numbers_are_releases(checkout: Path, tag: str) -> None:
    assert "must have the form v1.2.3" in planned(checkout, tag)


def test_a_tag_that_the_checkout_lacks_is_refused(checkout: Path) -> None:
    assert "there is no tag v1.2.0" in planned(checkout)


def test_the_checkout_is_the_commit_of_the_tag(checkout: Path) -> None:
    git(checkout, "tag", TAG)
    commit(checkout)
    assert "check out the tag" in planned(checkout)


def test_a_commit_beside_main_is_refused(checkout: Path) -> None:
    git(checkout, "checkout", "--quiet", "-b", "side")
    commit(checkout)
    git(checkout, "tag", TAG)
    assert "is not on main" in planned(checkout)


def test_a_checkout_without_main_is_refused(checkout: Path) -> None:
    git(checkout, "tag", TAG)
    assert "there is no branch origin/main" in "\n".join(release_check.plan(checkout, TAG, "origin/main"))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"version": "1.2.1"}, "Cargo.toml has version 1.2.1"),
        ({"locked": "1.1.0"}, "Cargo.lock has version 1.1.0"),
        ({"heading": "1.3.0 (2026-11-25)"}, "the newest heading of CHANGELOG.md is of 1.3.0"),
        ({"heading": "1.2.0 (unreleased)"}, "write the date of the release"),
        ({"heading": "1.2.0 (2026-02-30)"}, "write the date of the release"),
        ({"heading": "1.2.0 (20261125)"}, "write the date of the release"),
        ({"heading": "Unreleased"}, "the newest heading of CHANGELOG.md is of 1.1.0"),
    ],
)
def test_versions_that_differ_are_refused(checkout: Path, changed: dict[str, str], reason: str) -> None:
    commit(checkout, **changed)
    git(checkout, "tag", TAG)
    assert reason in planned(checkout)


def test_all_problems_are_reported_together(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(checkout, version="2.0.0", heading="2.0.0 (unreleased)")
    assert release_check.main(["--root", str(checkout), "plan", TAG, "--main", "main"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_the_notes_are_the_section_of_the_version(checkout: Path) -> None:
    assert release_check.notes(checkout, "v1.2.0") == "- New."
    assert release_check.notes(checkout, "v1.1.0") == "- Old."
    assert release_check.notes(checkout, "v1.1") is None


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A folder with every file of a release."""
    folder = tmp_path / "dist"
    folder.mkdir()
    for name in FILES.values():
        (folder / name).write_bytes(b"content")
    return folder


def test_the_files_of_a_release_are_one_of_each_kind(dist: Path) -> None:
    assert list(FILES) == release_check.KINDS
    assert release_check.files(dist, "1.2.0", release_check.KINDS) == []


@pytest.mark.parametrize("kind", release_check.KINDS)
def test_a_missing_file_is_named(dist: Path, kind: str) -> None:
    (dist / FILES[kind]).unlink()
    assert release_check.files(dist, "1.2.0", release_check.KINDS) == [f"there is no file for {kind}"]


@pytest.mark.parametrize(
    "name",
    [
        "dataaccess-1.2.1.tar.gz",
        "dataaccess-1.2.0-cp312-cp312-win_amd64.whl",
        "dataaccess-1.2.0-cp311-abi3-linux_x86_64.whl",
        "dataaccess-1.2.0-cp311-abi3-manylinux_2_34_x86_64.whl",
        "notes.md",
    ],
)
def test_any_other_file_is_refused(dist: Path, name: str) -> None:
    (dist / name).write_bytes(b"content")
    assert release_check.files(dist, "1.2.0", release_check.KINDS) == [
        f"{name} is not expected among the files of 1.2.0"
    ]


def test_a_second_and_an_empty_file_are_refused(dist: Path) -> None:
    (dist / "dataaccess-1.2.0-cp311-abi3-macosx_12_0_arm64.whl").write_bytes(b"content")
    (dist / FILES["sdist"]).write_bytes(b"")
    assert release_check.files(dist, "1.2.0", release_check.KINDS) == [
        "dataaccess-1.2.0.tar.gz is empty",
        "there is no file for sdist",
        "there are 2 files for macos-arm64",
    ]


def wheel(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, json.dumps({"bomFormat": "CycloneDX"}))
    return content.getvalue()


def test_the_sbom_of_each_wheel_is_written_under_the_name_of_the_wheel(tmp_path: Path) -> None:
    name = FILES["windows-x86_64"]
    (tmp_path / name).write_bytes(wheel("dataaccess-1.2.0.dist-info/sboms/dataaccess.cyclonedx.json"))
    assert release_check.sboms(tmp_path, tmp_path / "out") == []
    written = tmp_path / "out" / f"{name.removesuffix('.whl')}.cyclonedx.json"
    assert json.loads(written.read_text(encoding="utf-8")) == {"bomFormat": "CycloneDX"}


def test_a_wheel_without_an_sbom_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILES["windows-x86_64"]).write_bytes(wheel("dataaccess/__init__.py"))
    assert "has 0 CycloneDX SBOMs" in "\n".join(release_check.sboms(tmp_path, tmp_path / "out"))
