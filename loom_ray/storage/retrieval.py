"""Which rows answer a query? The search by meaning and by words over one namespace's two indexes, fused."""

from __future__ import annotations

from loom_ray.core.ranking import Ranked, fuse
from loom_ray.core.similarity import Matrix
from loom_ray.storage.facets import Where
from loom_ray.storage.vectors import View
from loom_ray.storage.words import WordIndex

DEPTH = 2  # lists of this many times k are fused: longer ones bring in what is only second best in both


def retrieve(view: View, words: WordIndex, query: str, vector: Matrix, k: int, where: Where) -> list[Ranked]:
    """The k best memories that the filter admits, best first. Run it in a thread; the view is taken on the loop.

    `vector` is the embedding of `core.text.terms.meaning_of_query(query)`, float16, (1, dimensions), or zero for a query
    without meaning. Hits that words alone found get their similarity too, as long as they have vectors.
    """
    meant = view.search(vector, DEPTH * k, where, excerpts_only=False)[0] if vector.any() else []
    worded = words.search(query, DEPTH * k, where)
    return [_with_similarity(view, ranked, vector) for ranked in fuse(meant, worded, k)]


def _with_similarity(view: View, ranked: Ranked, vector: Matrix) -> Ranked:
    if ranked.similarity is not None:
        return ranked
    hit = view.index.hit(ranked.memory_id, vector)
    return ranked if hit is None else ranked._replace(similarity=hit.similarity, piece=hit.piece)
