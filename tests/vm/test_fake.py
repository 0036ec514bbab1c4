"""The fake cgroup file system of the functional tests gives the answers recorded from real kernels. Needs no VM."""

from __future__ import annotations

import json

import answers
import pytest
from expected import expected
from fakeworld import FakeWorld
from table import DOCUMENT, RECORDED, document

KERNELS = json.loads(RECORDED.read_text())
HAVE = [(name, version) for name in KERNELS for version in ("v1", "v2") if isinstance(KERNELS[name][version], dict)]


@pytest.mark.parametrize(("kernel", "version"), HAVE)
def test_the_fake_answers_as_recorded(kernel: str, version: str) -> None:
    found = KERNELS[kernel][version]
    fake = answers.ask_all(FakeWorld(int(version[1]), remote="claim of CPUs that base does not claim" in found))
    assert len(expected(found)) > 30
    wrong = {key: (answer, fake.get(key)) for key, answer in expected(found).items() if fake.get(key) != answer}
    assert not wrong


def test_the_document_is_of_the_record() -> None:
    assert DOCUMENT.read_text() == document(KERNELS)
