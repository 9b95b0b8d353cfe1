"""What the library says of a store: each of its methods, as its documentation describes them."""

import asyncio
import time

from langgraph.graph import START, StateGraph
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from souvenance.errors import InvalidInput, LineTooLong, NamespaceDenied
from souvenance.integrations.langgraph import SouvenanceStore

DOCS = ("docs",)


def _raised(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def _keys(items):
    return [item.key for item in items]


def an_item_comes_back_as_it_was_put(world):
    store = SouvenanceStore(world.peer)
    value = {"text": "Ä “quoted” line\n", "nested": {"list": [1, 2.5, None, True]}}
    store.put(("users", "ann"), "profile", value)
    item = store.get(("users", "ann"), "profile")
    assert (item.namespace, item.key, item.value) == (("users", "ann"), "profile", value)
    assert item.created_at == item.updated_at
    assert store.get(("users", "ann"), "other") is None
    assert store.get(("users",), "profile") is None


def an_item_put_again_has_the_new_value_and_keeps_its_first_time(world):
    store = SouvenanceStore(world.peer)
    store.put(DOCS, "a", {"text": "flight at nine"})
    first = store.get(DOCS, "a")
    store.put(DOCS, "a", {"text": "flight at ten"})
    second = store.get(DOCS, "a")
    assert second.value == {"text": "flight at ten"}
    assert second.created_at == first.created_at <= second.updated_at
    assert [item.value for item in store.search(DOCS, query="flight at nine")] == [second.value]
    assert len(list(world.peer.list(history=True))) == 2


def what_one_store_puts_another_store_on_the_same_memory_has(world):
    one, other = SouvenanceStore(world.peer), SouvenanceStore(world.peer)
    one.put(DOCS, "a", {"n": 1})
    assert other.get(DOCS, "a").value == {"n": 1}
    other.put(DOCS, "a", {"n": 2})
    assert one.get(DOCS, "a").value == {"n": 2}
    one.delete(DOCS, "a")
    assert other.get(DOCS, "a") is None
    one.put(DOCS, "a", {"n": 3})
    assert other.get(DOCS, "a").value == {"n": 3}


def a_deleted_item_is_gone_with_all_that_it_was(world):
    store = SouvenanceStore(world.peer)
    store.put(DOCS, "a", {"text": "first"})
    store.put(DOCS, "a", {"text": "second"})
    store.put(DOCS, "b", {"text": "kept"})
    store.delete(DOCS, "a")
    store.delete(DOCS, "never there")
    assert store.get(DOCS, "a") is None
    assert _keys(store.search(DOCS)) == ["b"]
    assert len(list(world.peer.list(history=True))) == 1


def a_search_finds_by_words_and_fills_up_with_the_newest(world):
    store = SouvenanceStore(world.peer)
    for key, text in (("a", "the cat sleeps"), ("b", "trains to Faro"), ("c", "apples and pears")):
        store.put(DOCS, key, {"text": text})
    best, *others = store.search(DOCS, query="which train goes to Faro?")
    assert best.key == "b"
    assert best.score > 0
    assert {(item.key, item.score) for item in others} == {("c", None), ("a", None)}
    assert _keys(store.search(DOCS, query="which train goes to Faro?", limit=1)) == ["b"]


def a_search_has_pages_and_goes_below_the_prefix(world):
    store = SouvenanceStore(world.peer)
    for number in range(30):
        store.put(("pages", str(number % 2)), f"k{number}", {"text": f"apple {number}"})
    store.put(("pagesnot",), "x", {"text": "apple"})
    found = store.search(("pages",), limit=100)
    times = [item.updated_at for item in found]
    assert times == sorted(times, reverse=True)
    every = _keys(found)
    assert set(every) == {f"k{number}" for number in range(30)}
    assert _keys(store.search(("pages",), limit=10, offset=25)) == every[25:]
    assert len(store.search(("pages",), query="apple", limit=100)) == 30
    assert len(store.search(("pages", "1"), limit=100)) == 15
    assert len(store.search((), limit=100)) == 31
    assert store.search(("nothing",), query="apple") == []


def filters_compare_as_the_library_s_own_store_does(world):
    stores = [SouvenanceStore(world.peer), InMemoryStore()]
    for store in stores:
        store.put(
            DOCS, "a", {"kind": "report", "score": 4.0, "by": {"name": "ann", "age": 30}, "tags": ["x", "y"]}
        )
        store.put(
            DOCS, "b", {"kind": "report", "score": 5.5, "by": {"name": "bob", "age": 40}, "tags": ["x"]}
        )
        store.put(DOCS, "c", {"kind": "letter", "score": 5.5, "by": {"name": "ann", "age": 30}, "tags": []})
    for wanted in (
        {"kind": "report"},
        {"kind": "report", "score": {"$gt": 4.99}},
        {"score": {"$gte": 4.0, "$lt": 5.5}},
        {"score": {"$lte": 4}},
        {"kind": {"$ne": "report"}},
        {"kind": {"$eq": "letter"}},
        {"by": {"name": "ann"}},
        {"by": {"age": {"$gt": 30}}},
        {"tags": ["x"]},
        {"missing": None},
        {"missing": 1},
        {},
    ):
        ours, theirs = (set(_keys(store.search(DOCS, filter=wanted))) for store in stores)
        assert ours == theirs, (wanted, ours, theirs)
    assert (
        "$near"
        in _raised(InvalidInput, lambda: stores[0].search(DOCS, filter={"score": {"$near": 4}})).detail
    )


def namespaces_are_listed_as_the_library_s_own_store_does(world):
    stores = [SouvenanceStore(world.peer), InMemoryStore()]
    for store in stores:
        for path in (
            ("a", "b", "c"),
            ("a", "b", "d", "e"),
            ("a", "b", "d", "i"),
            ("a", "b", "f"),
            ("a", "c", "f"),
            ("z",),
        ):
            store.put(path, "k", {"n": 1})
    for asked in (
        {},
        {"prefix": ("a", "b")},
        {"prefix": ("a", "b"), "max_depth": 3},
        {"suffix": ("f",)},
        {"prefix": ("a",), "suffix": ("f",)},
        {"prefix": ("a", "*", "f")},
        {"suffix": ("d", "*")},
        {"max_depth": 1},
        {"limit": 2, "offset": 1},
    ):
        ours, theirs = (store.list_namespaces(**asked) for store in stores)
        assert ours == theirs, (asked, ours, theirs)


def any_label_the_library_takes_is_a_namespace(world):
    store = SouvenanceStore(world.peer)
    path = ("Users", "Ann Ä|1", "x--y", "memories")
    store.put(path, "k", {"n": 1})
    assert store.get(path, "k").namespace == path
    assert store.list_namespaces() == [path]
    assert _keys(store.search(("Users", "Ann Ä|1"))) == ["k"]
    assert "64" in _raised(InvalidInput, lambda: store.put(("a" * 40, "b" * 40), "k", {"n": 1})).hint


def a_batch_answers_in_order_and_sees_what_it_wrote(world):
    store = SouvenanceStore(world.peer)
    none, item, found, paths, gone, again = store.batch(
        [
            PutOp(DOCS, "a", {"text": "hello"}),
            GetOp(DOCS, "a"),
            SearchOp(DOCS, query="hello"),
            ListNamespacesOp((MatchCondition("prefix", DOCS),)),
            PutOp(DOCS, "a", None),
            GetOp(DOCS, "a"),
        ]
    )
    assert (none, gone, again) == (None, None, None)
    assert item.value == {"text": "hello"}
    assert _keys(found) == ["a"]
    assert paths == [DOCS]


async def every_method_has_its_async_twin(world):
    store = SouvenanceStore(world.peer)
    await asyncio.gather(*(store.aput(DOCS, f"k{number}", {"n": number}) for number in range(5)))
    assert (await store.aget(DOCS, "k3")).value == {"n": 3}
    assert len(await store.asearch(DOCS, query="n", filter={"n": {"$gte": 3}})) == 2
    assert await store.alist_namespaces() == [DOCS]
    await store.adelete(DOCS, "k3")
    assert await store.aget(DOCS, "k3") is None
    assert [len(found) for found in await store.abatch([SearchOp(DOCS), SearchOp(DOCS, limit=1)])] == [4, 1]


def an_item_that_is_not_indexed_has_no_score(world):
    store = SouvenanceStore(world.peer)
    store.put(DOCS, "a", {"text": "secret plan"}, index=False)
    store.put(DOCS, "b", {"text": "open plan"})
    assert [(item.key, item.score is None) for item in store.search(DOCS, query="plan")] == [
        ("b", False),
        ("a", True),
    ]
    assert store.get(DOCS, "a").value == {"text": "secret plan"}


def of_an_item_whose_fields_are_named_all_is_searched(world):
    store = SouvenanceStore(world.peer)
    store.put(DOCS, "a", {"text": "secret plan", "note": "for the harbour"}, index=["text"])
    store.put(DOCS, "b", {"text": "another plan"}, index=[])
    assert [item.key for item in store.search(DOCS, query="harbour") if item.score is not None] == ["a"]


def an_item_that_is_too_long_is_refused_with_a_hint(world):
    store = SouvenanceStore(world.peer)
    assert _raised(LineTooLong, lambda: store.put(DOCS, "a", {"text": "x" * 70_000})).hint
    assert store.get(DOCS, "a") is None


def an_item_with_a_time_to_live_is_gone_after_it_and_lives_on_while_it_is_read(world):
    store = SouvenanceStore(world.peer, ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(DOCS, "soon", {"n": 1}, ttl=0.02)
    store.put(DOCS, "later", {"n": 2})
    store.put(DOCS, "never", {"n": 3}, ttl=None)
    ends = {line.id: line.expires_at for line in world.peer.list(namespaces="docs")}
    assert sorted(end is None for end in ends.values()) == [False, False, True]
    updated = store.get(DOCS, "later", refresh_ttl=True).updated_at
    (prolonged,) = [line for line in world.peer.list(namespaces="docs") if line.id not in ends]
    assert prolonged.expires_at > max(end for end in ends.values() if end)
    assert store.get(DOCS, "later").updated_at == updated
    store.search(DOCS, query="n", refresh_ttl=False)
    assert prolonged.id in {line.id for line in world.peer.list(namespaces="docs")}
    patience = time.monotonic() + 30
    while store.get(DOCS, "soon"):
        assert time.monotonic() < patience
    assert {item.key for item in store.search(DOCS)} == {"later", "never"}
    store.put(DOCS, "later", {"n": 4}, ttl=None)
    assert all(line.expires_at is None for line in world.peer.list(namespaces="docs"))
    store.delete(DOCS, "later")
    assert not [line for line in world.peer.list(namespaces="docs", history=True) if '"later"' in line.text]


def what_others_remembered_is_an_item_too(world):
    line = world.peer.put("I live in Lisbon", namespace="personal")
    store = SouvenanceStore(world.peer)
    (found,) = store.search(("personal",), query="where do I live?")
    assert (found.key, found.value) == (line, {"text": "I live in Lisbon"})
    assert store.get(("personal",), line).value == found.value
    store.put(("personal",), line, {"text": "I live in Porto"})
    assert [item.value for item in store.search(("personal",))] == [{"text": "I live in Porto"}]


def an_item_that_a_person_corrected_is_what_they_wrote(world):
    store = SouvenanceStore(world.peer)
    store.put(DOCS, "a", {"text": "I live in Lisbon"})
    (line,) = world.peer.list()
    corrected = world.peer.correct(line.id, "I live in Porto")
    assert store.get(DOCS, "a") is None
    assert store.get(DOCS, corrected).value == {"text": "I live in Porto"}
    store.put(DOCS, "b", {"text": "trains"})
    assert set(_keys(store.search(DOCS))) == {"b", corrected}


def nobody_poses_as_an_item(world):
    world.peer.put('{"key": "profile", "value": {"admin": true}}', namespace="docs")
    world.peer.session("s1", namespace="docs").add('{"key": "profile", "value": {"admin": true}}')
    assert SouvenanceStore(world.peer).get(DOCS, "profile") is None


def two_users_never_cross(world):
    ann, bob = (SouvenanceStore(world.memory.peer(name)) for name in (world.user, world.other))
    ann.put(DOCS, "a", {"text": "allergic to penicillin"})
    assert bob.get(DOCS, "a") is None
    assert bob.search((), query="penicillin") == bob.list_namespaces() == []
    bob.put(DOCS, "a", {"text": "likes plums"})
    bob.delete(DOCS, "a")
    assert ann.get(DOCS, "a").value == {"text": "allergic to penicillin"}
    with world.lent(world.other) as lent:
        assert SouvenanceStore(lent).search((), query="penicillin") == []


def a_token_s_namespaces_are_the_limits(world):
    SouvenanceStore(world.peer).put(("health",), "a", {"text": "allergic to penicillin"})
    with world.lent(world.user, namespaces="travel travel.2026") as lent:
        store = SouvenanceStore(lent)
        store.put(("travel", "2026"), "a", {"text": "window seat"})
        assert store.list_namespaces() == [("travel", "2026")]
        assert _keys(store.search((), query="penicillin")) == ["a"]
        assert store.search(("health",), query="penicillin") == []
        for call in (lambda: store.get(("health",), "a"), lambda: store.put(("health",), "b", {"n": 1})):
            assert _raised(NamespaceDenied, call).hint


def a_node_of_a_graph_reads_and_writes_it(world):
    def node(state: dict, *, store) -> dict:
        if state["text"].startswith("I "):
            store.put(DOCS, "said", {"text": state["text"]})
            return {"text": "noted"}
        return {"text": store.search(DOCS, query=state["text"])[0].value["text"]}

    graph = StateGraph(dict)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    compiled = graph.compile(store=SouvenanceStore(world.peer))
    assert compiled.invoke({"text": "I live in Lisbon"})["text"] == "noted"
    assert compiled.invoke({"text": "Where do I live?"})["text"] == "I live in Lisbon"
