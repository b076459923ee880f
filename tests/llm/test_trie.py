"""The trie holds every answer once, parents before children, and tells each node whom it may look at."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from masim.llm.trie import Trie, trie_of

END = 99
answers = st.lists(st.lists(st.integers(0, 3), max_size=6).map(tuple), min_size=1, max_size=12, unique=True)


def spelled(trie: Trie, path: list[int]) -> list[int]:
    """Return the tokens of an answer's edges, each of which must begin where the one before it ended."""
    place, tokens = 0, []
    for edge in path:
        assert trie.edge_place[edge] == place
        token = int(trie.edge_token[edge])
        tokens.append(token)
        inner = [i for i in range(len(trie)) if trie.parent[i] == place - 1 and trie.token[i] == token]
        place = inner[0] + 1 if inner else -1
    return tokens


@given(answers)
def test_every_answer_can_be_read_off_and_nothing_is_there_twice(found: list[tuple[int, ...]]) -> None:
    whole = [(*answer, END) for answer in found]
    trie = trie_of(whole)
    assert [tuple(spelled(trie, path.tolist())) for path in trie.paths] == whole
    beginnings = {answer[:n] for answer in found for n in range(1, len(answer) + 1)}
    assert len(trie) == len(beginnings)
    assert len(trie.edge_token) == len(beginnings) + len(whole)
    assert all(parent < node for node, parent in enumerate(trie.parent))


@given(answers)
def test_a_node_sees_its_ancestors_and_itself(found: list[tuple[int, ...]]) -> None:
    trie = trie_of([(*answer, END) for answer in found])
    assert (trie.sees().sum(axis=1) == trie.depth + 1).all()
    for node, parent in enumerate(trie.parent.tolist()):
        assert parent < 0 or (trie.sees()[node] >= trie.sees()[parent]).all()


def test_one_token_alone_needs_no_node() -> None:
    trie = trie_of([(END,)])
    assert len(trie) == 0 and trie.edge_place.tolist() == [0] and trie.edge_token.tolist() == [END]
