"""Is every refusal what its documentation draws, on the wire and through a pickle?"""

from __future__ import annotations

import pickle
import re

import pytest

from loom_ray.contract import errors
from loom_ray.contract.errors import LoomError
from loom_ray.contract.openapi import openapi_document
from loom_ray.contract.ops import OPS, refusals
from loom_ray.contract.settings import Settings


def every_class(kind: type[LoomError] = LoomError) -> list[type[LoomError]]:
    return [kind, *(leaf for child in kind.__subclasses__() for leaf in every_class(child))]


ALL = [kind for kind in every_class() if kind.__module__ == errors.__name__]  # rooms may have finer ones of their own


@pytest.mark.parametrize("kind", ALL)
def test_survives_pickling_with_its_fields(kind: type[LoomError]) -> None:
    error = pickle.loads(pickle.dumps(kind("why", {"current_sha256": "ab"}, 1.5)))
    assert type(error) is kind
    assert str(error) == "why"
    assert error.extra == {"current_sha256": "ab"}
    assert error.retry_after_s == 1.5


@pytest.mark.parametrize("kind", ALL)
def test_wire_shape_has_every_common_field_and_the_extra_ones_beside_them(kind: type[LoomError]) -> None:
    detail = kind("why", {"candidates": [1]}).detail("r-1")
    assert detail.items() >= {"code": kind.code, "message": "why", "request_id": "r-1", "candidates": [1]}.items()
    assert detail.keys() >= {"category", "retryable", "retry_after_s"}


def test_codes_are_unique_among_leaves_that_set_their_own() -> None:
    own = [kind.code for kind in ALL if "code" in vars(kind)]
    assert sorted(set(own)) == sorted(own)


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = set(re.findall(r"[─ ]([A-Z]\w+)\b(?= )", errors.__doc__ or "")) | {"LoomError"}
    classes = {kind.__name__ for kind in ALL}
    assert classes - drawn == {"InternalError"} or classes <= drawn
    assert {name for name in drawn if hasattr(errors, name)} <= classes


def test_only_what_may_pass_by_itself_is_retryable() -> None:
    retryable = {kind.__name__ for kind in ALL if kind.retryable}
    assert retryable == {"Unavailable", "BackendUnavailable", "OutcomeUnknown", "Overloaded"}


def test_openapi_names_every_refusal_of_every_op() -> None:
    paths = openapi_document(Settings())["paths"]
    for op in OPS.values():
        responses = paths[f"/v1/{op.name}"]["post"]["responses"]
        for refusal in refusals(op):
            assert refusal.code in responses[str(refusal.status)]["description"]
