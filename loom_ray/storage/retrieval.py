"""Which rows answer a query? The search by meaning and by words over one namespace's two indexes, fused."""

from __future__ import annotations

from loom_ray.core.ranking import Ranked, fuse
from loom_ray.core.similarity import Matrix
from loom_ray.storage.facets import Where
from loom_ray.storage.vectors import View
from loom_ray.storage.words import WordIndex

DEPTH = 2  # lists of this many times k are fused; every candidate is scored by both
CANDIDATES_MIN = 20


def retrieve(view: View, words: WordIndex, query: str, vector: Matrix, k: int, where: Where) -> list[Ranked]:
    """The k best memories that the filter admits, best first. Run it in a thread; the view is taken on the loop.

    `vector` is the embedding of `core.text.terms.meaning_of_query(query)`, float16, (1, dimensions), or zero for one
    without meaning. Similarities are those to the vector itself; the order is by its centred form.
    """
    depth = max(DEPTH * k, CANDIDATES_MIN)
    centred = view.centred(vector) if vector.any() else vector
    meant = view.search(centred, depth, where, excerpts_only=False)[0] if vector.any() else []
    near = {hit.memory_id: hit.similarity for hit in meant}
    worded = {hit.memory_id: hit for hit in words.search(query, depth, where, also=near)}
    for memory_id in worded.keys() - near.keys():
        hit = view.index.hit(memory_id, centred)
        if hit is not None:
            near[memory_id] = hit.similarity
    floor = float(centred[0].astype(float) @ view.mean)
    return [_ranked(view, each, score, vector) for each, score in fuse(near, floor, worded, k)]


def _ranked(view: View, memory_id: str, score: float, vector: Matrix) -> Ranked:
    hit = view.index.hit(memory_id, vector)
    return Ranked(memory_id, score, None, 0) if hit is None else Ranked(memory_id, score, hit.similarity, hit.piece)
