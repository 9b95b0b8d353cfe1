"""Before a host compresses a conversation what was said is on the disk, and nothing is written twice."""

import pytest

from souvenance.errors import StorageUnavailable

SAID = "My boat is called Kraken."
LATER = "It lies in Piran."


def messages(*said):
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(said)]


def begun(stage, text=SAID, turn=1, **told):
    provider = stage.provider("s1", **told)
    provider.on_turn_start(turn, text)
    return provider


def said(stage):
    return [text for texts in stage.sessions().values() for _, text in texts]


def test_a_host_is_told_that_it_may_rely_on_it(stage):
    assert stage.provider().pre_compress_checkpoint_api_version == 2


@pytest.mark.parametrize("times", [1, 3])
def test_what_is_said_in_a_turn_that_is_interrupted_after_a_checkpoint_is_kept_once(stage, times):
    provider = begun(stage)
    for _ in range(times):
        provider.on_pre_compress(messages(SAID), require_checkpoint=True)
    stage.anew()
    stage.provider("s2")
    stage.flush()
    assert said(stage) == [SAID]


CHATS = {
    "at a terminal": {},
    "over HTTP": {"platform": "api_server", "gateway_session_key": "user:ann"},
    "in a chat": {"platform": "telegram", "user_id": "7", "gateway_session_key": "agent:main:telegram:dm:5"},
}


@pytest.mark.parametrize("told", CHATS.values(), ids=CHATS)
@pytest.mark.parametrize("next_session", ["s1", "s2"], ids=["same session", "next session"])
def test_a_turn_that_ends_after_its_checkpoint_is_kept_once_with_its_answer(stage, told, next_session):
    provider = begun(stage, **told)
    provider.on_pre_compress(messages(SAID), require_checkpoint=True)
    provider.on_session_end(messages(SAID))
    provider.on_session_switch(next_session, parent_session_id="s1", reason="compression")
    provider.on_pre_compress(messages(SAID), require_checkpoint=True)
    stage.tell(provider, SAID, "A fine name.", next_session, messages(SAID, "A fine name."))
    assert said(stage) == [SAID, "A fine name."]


def test_the_same_is_kept_where_another_process_goes_on(stage):
    begun(stage).on_pre_compress(messages(SAID), require_checkpoint=True)
    provider = begun(stage.anew())
    provider.on_pre_compress(messages(SAID), require_checkpoint=True)
    stage.tell(provider, SAID, "A fine name.", "s1", messages(SAID, "A fine name."))
    assert said(stage) == [SAID, "A fine name."]


TALK = messages(SAID, "A fine name.", LATER)


@pytest.mark.parametrize("earlier", [(), ("Hello.", "Hi.")], ids=["first turns", "later turns"])
class TestATurnThatTheHostHasYetToGive:
    """Hosts give finished turns on a thread of their own, which may be behind."""

    @pytest.fixture
    def provider(self, stage, earlier):
        provider = stage.provider("s1")
        if earlier:
            provider.on_turn_start(1, earlier[0])
            stage.tell(provider, *earlier, "s1", messages(*earlier))
        for number, text in enumerate((SAID, LATER), 1 + len(earlier) // 2):
            provider.on_turn_start(number, text)
        return provider

    @pytest.fixture
    def whole(self, earlier):
        return [*messages(*earlier), *TALK]

    @pytest.mark.parametrize("times", [1, 3])
    def test_is_kept_with_its_answer_where_the_process_ends(self, stage, provider, whole, earlier, times):
        for _ in range(times):
            provider.on_pre_compress(whole, require_checkpoint=True)
        stage.anew()
        stage.provider("s2")
        stage.flush()
        assert said(stage) == [*earlier, SAID, "A fine name.", LATER]

    def test_is_kept_once_where_it_is_given_later(self, stage, provider, whole, earlier):
        provider.on_pre_compress(whole, require_checkpoint=True)
        stage.tell(provider, SAID, "A fine name.", "s1", whole[:-1])
        stage.tell(provider, LATER, "Lovely.", "s1", [*whole, {"role": "assistant", "content": "Lovely."}])
        assert said(stage) == [*earlier, SAID, "A fine name.", LATER, "Lovely."]

    def test_may_be_given_while_the_next_one_is_under_way(self, stage, provider, whole, earlier):
        stage.tell(provider, SAID, "A fine name.", "s1", whole[:-1])
        provider.on_pre_compress(whole, require_checkpoint=True)
        stage.anew()
        stage.provider("s2")
        stage.flush()
        assert said(stage) == [*earlier, SAID, "A fine name.", LATER]

    def test_brings_no_more_than_it_would_have_brought(self, stage, provider, whole, earlier):
        told = [*whole[:-2], {"role": "assistant", "content": "Let me think."}, *whole[-2:]]
        provider.on_pre_compress(told, require_checkpoint=True)
        stage.flush()
        assert said(stage) == [*earlier, SAID, "A fine name.", LATER]

    def test_is_forgotten_where_it_is_undone(self, stage, provider, whole, earlier):
        provider.on_pre_compress(whole, require_checkpoint=True)
        stage.tell(provider, SAID, "A fine name.", "s1", whole[:-1])
        stage.tell(provider, LATER, "Lovely.", "s1", [*whole, {"role": "assistant", "content": "Lovely."}])
        provider.on_session_switch("s1", rewound=True)
        provider.on_session_end(whole[:-1])
        stage.flush()
        assert said(stage) == [*earlier, SAID, "A fine name."]


def test_what_was_said_before_memory_was_there_is_not_taken_over_by_a_checkpoint(stage):
    provider = begun(stage, LATER, turn=5)
    provider.on_pre_compress(TALK, require_checkpoint=True)
    stage.flush()
    assert said(stage) == [LATER]


def test_what_was_said_in_a_turn_that_was_interrupted_may_be_said_again(stage):
    provider = begun(stage)
    provider.on_pre_compress(messages(SAID), require_checkpoint=True)
    provider.on_turn_start(2, LATER)
    stage.tell(provider, LATER, "Lovely.", "s1")
    stage.tell(provider, SAID, "Yes.", "s1")
    assert said(stage) == [SAID, LATER, "Lovely.", SAID, "Yes."]


def test_after_a_turn_that_was_interrupted_the_next_one_ends_as_any(stage):
    provider = begun(stage)
    provider.on_turn_start(2, LATER)
    stage.tell(provider, LATER, "Lovely.", "s1")
    provider.on_pre_compress(messages(LATER, "Lovely."), require_checkpoint=True)
    stage.flush()
    assert said(stage) == [LATER, "Lovely."]


def test_between_turns_a_checkpoint_writes_nothing(stage):
    provider = begun(stage)
    stage.tell(provider, SAID, "A fine name.", "s1")
    provider.on_pre_compress(messages(SAID, "A fine name."), require_checkpoint=True)
    stage.flush()
    assert said(stage) == [SAID, "A fine name."]


def test_what_is_undone_after_its_checkpoint_is_forgotten_whole(stage):
    provider = begun(stage)
    stage.tell(provider, SAID, "A fine name.", "s1", messages(SAID, "A fine name."))
    provider.on_turn_start(2, LATER)
    whole = messages(SAID, "A fine name.", LATER)
    provider.on_pre_compress(whole, require_checkpoint=True)
    stage.tell(provider, LATER, "Lovely.", "s1", [*whole, {"role": "assistant", "content": "Lovely."}])
    assert said(stage) == [SAID, "A fine name.", LATER, "Lovely."]
    provider.on_session_switch("s1", rewound=True)
    provider.on_session_end(whole[:2])
    stage.flush()
    assert said(stage) == [SAID, "A fine name."]


def test_a_disk_that_takes_nothing_is_told_the_host(stage, monkeypatch):
    provider = begun(stage)
    runtime = stage.runtime(stage.configuration(stage.home, "default")[0])

    def full(lane, body):
        raise StorageUnavailable("the disk is full")

    monkeypatch.setattr(runtime._write_queue, "put", full)
    with pytest.raises(StorageUnavailable):
        provider.on_pre_compress(messages(SAID), require_checkpoint=True)


@pytest.mark.parametrize("told", [{"save": False}, {"author": True}], ids=["nothing is saved", "a bot"])
def test_a_checkpoint_keeps_nothing_that_a_turn_would_not(stage, told):
    stage.configure(saveMessages=told.get("save", True))
    provider = stage.provider("s1")
    provider.on_turn_start(1, SAID, author_id="scout", author_is_bot="author" in told)
    provider.on_pre_compress(messages(SAID), require_checkpoint=True)
    stage.flush()
    assert said(stage) == []


KEY = {"platform": "api_server", "gateway_session_key": "user:ann"}


def posted(stage, *before, answer, later=0):
    """A request that brings its whole history, as a chat's page posts it; it has a provider of its own."""
    provider = stage.provider("api-0123456789abcdef", **KEY)
    runtime = stage.runtime(stage.configuration(stage.home, "default")[0])
    now = runtime.now
    runtime.now = lambda: now() + later
    provider.on_turn_start(len(before) // 2 + 1, before[-1])
    stage.tell(provider, before[-1], answer, "api-0123456789abcdef", messages(*before, answer))
    runtime.now = now


def test_an_answer_that_is_made_anew_over_http_keeps_the_line_once_and_the_last_answer(stage):
    posted(stage, SAID, answer="One.")
    posted(stage, SAID, answer="Two.")
    posted(stage, SAID, "Two.", LATER, answer="Three.")
    posted(stage.anew(), SAID, "Two.", LATER, answer="Four.")
    posted(stage, SAID, "Two.", LATER, "Four.", "And you?", answer="Five.")
    assert said(stage) == [SAID, "Two.", LATER, "Four.", "And you?", "Five."]


def test_who_says_the_same_another_time_says_it_again(stage):
    posted(stage, "Tea, please.", answer="Here.")
    posted(stage, "Tea, please.", "Here.", "Tea, please.", answer="Again.")
    posted(stage, "Tea, please.", answer="Good morning.", later=3_600_000)
    assert said(stage).count("Tea, please.") == 3


def test_two_talks_over_http_that_begin_alike_lose_nothing_of_each_other(stage):
    posted(stage, "Hi.", answer="Hello.")
    posted(stage, "Hi.", "Hello.", SAID, answer="One.")
    posted(stage, "Hi.", "Hello.", LATER, answer="Two.")
    assert {SAID, "One.", LATER, "Two."} <= {*said(stage)}
