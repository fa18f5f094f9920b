"""A profile file that is no TOML is refused by file and line, without a part of it.

Source: a security review.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import dataaccess as da

CONTENTS = {
    "a table of its own name": "[tok-hunter2]\na = 1\n[tok-hunter2]\n",
    "a value for a table": "[profiles.default]\ntok-hunter2 = 1\ntok-hunter2.a = 2\n",
    "a string without quotes": '[profiles.default]\nbase_url = "https://cdp.example.com"\ntoken = tok-hunter2\n',
    "a character in a string": '[profiles.default]\ntoken = "tok-\\hunter2"\n',
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_a_profile_that_is_no_toml_is_not_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    path = tmp_path / "dataaccess" / "config.toml"
    path.parent.mkdir()
    path.write_text(content)
    path.chmod(0o600)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(da.ConfigError) as caught:
        da.Client()
    assert str(path) in str(caught.value)
    assert "line" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
