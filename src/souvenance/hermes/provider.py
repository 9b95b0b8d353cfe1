"""The memory provider: what the host's hooks mean for memory.

A provider is disposable: it knows its conversation and nothing else. What must outlive it is in the
runtime, which it shares with every other provider of the profile.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.injection import count
from souvenance.agents.redaction import redact
from souvenance.agents.transcript import chunks, clean, spoken
from souvenance.errors import SouvenanceError
from souvenance.hermes import tools
from souvenance.hermes.config_files import write_setting
from souvenance.hermes.configuration import KEYS, Configuration, ProviderSetting
from souvenance.hermes.delivery import QueuedMessage, QueuedTurn, Transcript, Undo, pages, statement
from souvenance.hermes.host import (
    PERSONAL,
    PROVIDERS,
    READS_STDIN,
    SENT,
    HostConversation,
    Window,
    local_now,
    offered,
    said_and_undone,
    sent_by_caller,
    told_of,
    window,
    with_undone,
)
from souvenance.hermes.identity import (
    HTTP,
    Person,
    agent_peer,
    identify,
    is_shared,
    pages_name,
    scope_of,
    written_by,
)
from souvenance.hermes.profile_runtime import ProfileRuntime, Surroundings
from souvenance.hermes.recall import CachedConversation, Recall
from souvenance.hermes.state_files import DELAY
from souvenance.hermes.token import minting

_FLUSH_SECONDS = 2.0
"""How long memory in this process may take to write the last messages at shutdown."""
_TRIED_AGAIN_MS = 600_000
"""Over HTTP, who says the same in the same place within this time has an answer made anew."""


class Provider:
    """Each hook takes, and leaves alone, whatever else a newer host may tell it. For those that are not here
    the host's defaults do: what a helper reports, for one, is what a tool returned."""

    name = "souvenance"
    pre_compress_checkpoint_api_version = 2
    """`on_pre_compress` returns once what was said is on the disk, and writes nothing twice."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._around = surroundings
        self._conversation: HostConversation | None = None
        self._configuration: Configuration | None = None
        self._remembers = False
        self._person: Person | None = None
        self._turn = 0
        self._author: Mapping[str, Any] | None = None
        """Who wrote the turn under way, if the host says so."""
        self._turns = object()
        """What the profile runtime knows the turns of this provider by."""
        self._begun = 0
        """Of how many turns the host has yet to say that they are over."""
        self._message = ""
        """What the latest of them began with."""
        self._recalled = 0
        """How many memories the latest turn was given."""
        self._warn_user: Callable[[str], object] | None = None

    def is_available(self) -> bool:
        """Without memory the host goes on silently, so what is broken is logged."""
        for complaint in () if self._configured().enabled else self._switching_off():
            self._around.warn(complaint)
        return self._configured().enabled

    def unavailable_reason(self) -> str:
        if self._configured().enabled:
            return ""
        return (
            " ".join(self._switching_off())
            or "It is switched off: 'hermes souvenance enable' switches it on."
        )

    def identity_signature(self, **more: Any) -> dict[str, str]:
        """What changes when agents that the host keeps must be made anew. Keys are left out: they renew."""
        found, _ = self._around.configuration(self._around.home(), "default")
        lasting = dataclasses.replace(found, api_key=None, oauth=None, token=None)
        return {"configuration": sha256(repr(lasting).encode(errors="replace")).hexdigest()}

    def _switching_off(self) -> list[str]:
        _, complaints = self._around.configuration(self._around.home(), "default")
        return [str(complaint) for complaint in complaints if complaint.switches_off]

    def _configured(self) -> Configuration:
        """The configuration of this conversation, or before one has begun, of the profile."""
        return self._configuration or self._around.configuration(self._around.home(), "default")[0]

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Learn whose conversation it is. Nothing is waited for."""
        home = Path(kwargs.get("hermes_home") or self._around.home())
        directory = Path(kwargs.get("cwd") or self._around.directory())
        self._conversation = told_of(session_id, home, directory, kwargs)
        self._warn_user = kwargs.get("warning_callback")
        profile = kwargs.get("agent_identity") or "default"
        self._configuration, complaints = self._around.configuration(home, profile)
        for complaint in complaints:
            self._around.warn(str(complaint))
        self._person = None
        configuration, primary = self._configuration, kwargs.get("agent_context") in (None, "", "primary")
        has_memory = configuration.group_chats or not is_shared(self._conversation)
        self._remembers = configuration.enabled and primary and has_memory
        if self._remembers:
            self._person = identify(self._configuration, self._conversation)
            if self._person is None:
                self._around.warn(
                    "somebody is not named by the host, so nothing is remembered of them; "
                    "name the user in X-Hermes-Session-Key as user:<id>, or set pinUserPeer"
                )
        if self._person is not None:
            self._settle_title()
            self._runtime().warm_up(here=self._conversation.platform == READS_STDIN)

    def _settle_title(self) -> None:
        """A session keeps the title that it began with, as far as that names it: the host gives one later."""
        conversation = self._conversation
        if conversation is None or self._configuration is None:
            return
        first = self._around.state_files(self._configuration).title(conversation.session_id)
        if first is not None:
            self._conversation = replace(conversation, session_title=first or None)

    def _keep_title(self, session_id: str) -> None:
        conversation, configuration = self._conversation, self._configured()
        if conversation is None or conversation.gateway_session_key is not None:
            return
        state_files, session = self._around.state_files(configuration), session_id or conversation.session_id
        if state_files.title(session) is None:
            state_files.keep_title(session, conversation.session_title or "")

    def _runtime(self) -> ProfileRuntime:
        return self._around.runtime(self._configured())

    def _scope(self, session_id: str = "", speaker: Person | None = None) -> ConversationScope | None:
        """The scope of this conversation, for its own person or another; None if it is not remembered."""
        conversation, configuration, person = self._conversation, self._configuration, speaker or self._person
        if conversation is None or configuration is None or person is None:
            return None
        token, ai = configuration.token, agent_peer(configuration)
        if token is not None and not token.reaches(person.peer):
            line = minting(None, ai, configuration.workspace, configuration.namespaces)
            self._around.warn(
                f"apiKey is a token of {token.claims.sub} that does not speak for everybody who writes here: "
                f"of others nothing is remembered. To remember everybody, mint: {line}"
            )
            return None
        if session_id not in ("", conversation.session_id):
            title = self._around.state_files(configuration).title(session_id)
            conversation = replace(conversation, session_id=session_id, session_title=title or None)
        return scope_of(configuration, conversation, person)

    def _scope_of(self, author: Any, session_id: str) -> ConversationScope | None:
        """The scope of a turn whose author the host names: one who shares the chat, or no human."""
        conversation, told = self._conversation, author if isinstance(author, Mapping) else {}
        if told.get("is_bot") or conversation is None or not self._remembers:
            return None
        name = str(told.get("id") or "").strip()
        alone = conversation.user_id is None and conversation.platform in PERSONAL
        if not name or alone or name in (conversation.user_id, conversation.user_id_alt):
            return self._scope(session_id)
        speaker = identify(self._configured(), written_by(conversation, name))
        return None if speaker is None else self._scope(session_id, speaker)

    def _scope_now(self, session_id: str = "") -> ConversationScope | None:
        return self._scope_of(self._author, session_id)

    def _key(self, scope: ConversationScope, session_id: str = "") -> tuple[str, ...]:
        conversation = self._conversation
        began = session_id or (conversation.session_id if conversation is not None else "")
        return scope.workspace, scope.session, scope.user, began

    def _live(self, scope: ConversationScope) -> CachedConversation:
        return self._runtime().live(self._key(scope))

    @contextmanager
    def _transcript(self, scope: ConversationScope, session_id: str = "") -> Iterator[Transcript]:
        """What was said in the conversation, which is kept for the next process too."""
        state_files, key = self._around.state_files(self._configured()), self._key(scope, session_id)
        with self._runtime().live(key).transcript(lambda: state_files.transcript(*key)) as transcript:
            heard = transcript.heard
            yield transcript
            if transcript.heard is not heard:
                state_files.keep_transcript(transcript.heard, *key)

    def system_prompt_block(self, **more: Any) -> str:
        if self._scope() is None:
            return ""
        return tools.introduction(self._configured())

    def get_tool_schemas(self, **more: Any) -> list[dict[str, Any]]:
        configuration = self._configured()
        scope = self._scope()
        own_card = configuration.pins if scope is None else scope.personal
        return tools.schemas(configuration, own_card=own_card) if configuration.enabled else []

    def handle_tool_call(self, tool_name: str, args: Mapping[str, Any], **kwargs: Any) -> str:
        scope = self._scope_now()
        if scope is None:
            return tools.nobody()
        runtime, configuration = self._runtime(), self._configured()
        try:
            return runtime.ask_and_wait(
                scope,
                lambda memory: tools.handle(memory, configuration, tool_name, args, local_now()),
                configuration.timeout,
            )
        except SouvenanceError as error:
            return tools.refused(error)

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        self._turn, self._begun, self._message = turn_number, self._begun + 1, spoken(message)
        if self._remembers:
            self._runtime().turns.begin(self._turns)
        self._author = {"id": kwargs.get("author_id"), "is_bot": kwargs.get("author_is_bot")}

    def prefetch(self, query: str, *, session_id: str = "", **more: Any) -> str:
        scope, self._recalled = self._scope_now(), 0
        if scope is None:
            return ""
        if self._notice_undone() and self._runtime().near:
            self._runtime().flush(self._configured().patience)
        recall = self._recall(scope, self._turn - 1)
        told = recall.background(clean(query), self._turn)
        self._recalled = count(told)
        if recall.missed:
            self._say_missed(scope)
        return told

    def _say_missed(self, scope: ConversationScope) -> None:
        """Report a turn without memory: to the log and to the user, once in a process for each person."""
        told = f"Memory did not answer within {self._configured().patience:g} s; this turn goes without it."
        more = f"{told} 'hermes souvenance status' says more."
        if self._around.warn(more, scope.workspace, scope.user) and self._warn_user is not None:
            self._warn_user(told)

    def recall_status(self, **more: Any) -> Any:
        """What the latest turn was given, in the host's own terms; None if nothing, or the host has none."""
        status = offered(PROVIDERS, "RecallStatus")
        return status("Souvenance", self._recalled) if status is not None and self._recalled else None

    def _recall(self, scope: ConversationScope, turns: int) -> Recall:
        conversation, over_http, live = self._conversation, self._over_http, self._live(scope)

        def shown() -> Window | None:
            """Without the provider in it: a question that is under way may outlive that."""
            if conversation is None:
                return None
            found = window(conversation.home, conversation.session_id, turns)
            bare = over_http and (live.sent_by_caller or sent_by_caller(conversation.session_id))
            return replace(found, sent=()) if found and bare else found

        return Recall(self._runtime(), self._configured(), scope, live, shown)

    def sync_turn(
        self,
        user_content: Any,
        assistant_content: Any,
        *,
        session_id: str = "",
        messages: Sequence[Mapping[str, Any]] | None = None,
        turn_author: Any = None,
        **more: Any,
    ) -> None:
        user, assistant = spoken(user_content), spoken(assistant_content)
        if self._begun > 1 and user != self._message:
            self._begun -= 1  # The host is behind: a later turn is under way.
        else:
            self._end_turn()
        scope = self._scope_of(turn_author, session_id)
        if scope is None or not self._keeps(scope):
            return
        runtime = self._runtime()
        self._notice_undone()
        self._notice_history(scope, messages or ())
        self._take_back(scope, self._gone_before(scope, session_id, user, messages))
        self._write(runtime, scope, session_id, user, assistant)
        self._bring_pages(runtime, scope)

    def _keeps(self, scope: ConversationScope) -> bool:
        return scope.namespaces.write is not None and self._configured().save_messages

    def _end_turn(self) -> None:
        self._begun = 0
        if self._remembers:
            self._runtime().turns.end(self._turns)

    def _write(
        self, runtime: ProfileRuntime, scope: ConversationScope, session_id: str, user: str, assistant: str
    ) -> None:
        with self._transcript(scope, session_id) as transcript:
            known = transcript.is_ahead(user)
            said = [] if known else self._said(runtime, scope.user, user)
            said += [] if transcript.is_ahead(assistant) else self._said(runtime, scope.ai, assistant)
            if not said and not known:
                return
            posted = [runtime.post(QueuedTurn(scope, said))] if said else []
            transcript.wrote(posted, user, runtime.now(), assistant)
        self._keep_title(session_id)
        if not self._over_http:
            runtime.live(self._key(scope, session_id)).scope = scope

    def _write_ahead(
        self, runtime: ProfileRuntime, scope: ConversationScope, messages: Sequence[Mapping[str, Any]]
    ) -> None:
        """Write what the host has yet to give: what the user said in the turn under way, and the turns before
        it, each with its answer. Raises: StorageUnavailable."""
        peers = {"user": scope.user, "assistant": scope.ai}
        talk = [one for one in messages if one.get("role") in peers]
        users = [place for place, one in enumerate(talk) if one["role"] == "user"]
        if not users or not self._begun or not self._keeps(scope):
            return
        with self._transcript(scope) as transcript:
            begin = users[-1 - transcript.not_given(_said_by_user(talk), self._turn)]
            for one, following in pairwise([*talk[begin : users[-1] + 1], {"role": "user"}]):
                text = spoken(one.get("content"))
                said = self._said(runtime, peers[one["role"]], text)
                if said and "user" in (one["role"], following["role"]) and not transcript.is_ahead(text):
                    transcript.wrote_ahead(runtime.post(QueuedTurn(scope, said)), text)

    def _said(self, runtime: ProfileRuntime, peer: str, text: str) -> list[QueuedMessage]:
        now = runtime.now()
        return [
            QueuedMessage(peer, piece, now)
            for piece in chunks(redact(text), self._configured().message_max_chars)
            if piece.strip()
        ]

    @property
    def _over_http(self) -> bool:
        """Whether it is where the host has two talks that begin alike in one, and an answer may be made anew
        but nothing undone."""
        return self._conversation is not None and self._conversation.platform == HTTP

    def _gone_before(
        self,
        scope: ConversationScope,
        session_id: str,
        user: str,
        messages: Sequence[Mapping[str, Any]] | None,
    ) -> list[str]:
        conversation = self._conversation
        if conversation is None:
            return []
        said = _said_by_user(messages or ())
        places = [place for place, text in enumerate(said) if text == user]
        before = said[: places[-1] if places else -1]
        told = bool(before) or (bool(said) and self._turn == 1)

        def undone() -> list[str]:
            _, gone = said_and_undone(conversation.home, session_id or conversation.session_id)
            return gone

        with self._transcript(scope, session_id) as transcript:
            if not told:
                return transcript.is_over()
            if not self._over_http:
                return transcript.goes_on(before, undone, user)
            lately = self._runtime().now() - transcript.heard.at < _TRIED_AGAIN_MS
            return transcript.goes_on(before, following=user if lately else None)

    def _notice_undone(self) -> bool:
        """Take back what was undone in chats without a later turn: a gateway does not report that."""
        noticed = False
        if self._conversation is None:
            return noticed
        home, written = self._conversation.home, self._runtime().written()
        for session_id in with_undone(home, written):
            left, undone = said_and_undone(home, session_id)
            with self._transcript(written[session_id], session_id) as transcript:
                gone = transcript.rests(left, undone)
            self._take_back(written[session_id], gone)
            noticed = noticed or bool(gone)
        return noticed

    def _notice_history(self, scope: ConversationScope, messages: Sequence[Mapping[str, Any]]) -> None:
        """Whether the model had less of what memory added before it than the host kept."""
        conversation, said = self._conversation, [one for one in messages if one.get("role") == "user"]
        if conversation is not None and self._over_http and said:
            kept = window(conversation.home, conversation.session_id, len(said))
            had = sum(bool(one.get(SENT)) for one in said)
            self._live(scope).sent_by_caller = kept is not None and had < len(kept.sent)

    def _take_back(self, scope: ConversationScope, write_ids: Sequence[str]) -> None:
        for write_id in write_ids:
            self._runtime().post(Undo(scope, write_id))

    def _bring_pages(self, runtime: ProfileRuntime, scope: ConversationScope) -> None:
        """The host's own files become the declared owner's memory, once, in a session of their own."""
        configuration, conversation = self._configured(), self._conversation
        if scope.user != configuration.peer_name or configuration.session_strategy == "per-session":
            return
        if conversation is None or is_shared(conversation):
            return
        scope = replace(scope, session=pages_name(configuration, scope.user))
        state_files, key = self._around.state_files(configuration), ("files", scope.workspace, scope.user)
        if state_files.was(*key):
            return
        try:
            with state_files.once(*key) as first:
                for page in pages(configuration.home, scope) if first else ():
                    runtime.post(page)
        except (OSError, SouvenanceError) as error:
            self._around.warn(f"the host's own files are not taken over: {error}")

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        scope = self._scope_now(str((metadata or {}).get("session_id") or ""))
        if scope is None or scope.namespaces.write is None:
            return
        said = statement(scope, action, target, clean(content), metadata)
        if said is not None:
            self._runtime().post(said)

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        **kwargs: Any,
    ) -> None:
        conversation, scope = self._conversation, self._scope()
        if conversation is None or scope is None or not new_session_id:
            return
        if rewound:
            self._rewind(conversation, scope)
            return
        reason = None if reset else kwargs.get("reason")
        if reason != "compression":
            self._begun = 0
            self._end(scope, ())
        if new_session_id != conversation.session_id:
            self._move(conversation, scope, new_session_id, reason)
        if reset:
            self._turn = 0

    def _rewind(self, conversation: HostConversation, scope: ConversationScope) -> None:
        """Turns were taken back. The host's transcript says which, or else its next message list."""
        self._live(scope).rewind()
        left, undone = said_and_undone(conversation.home, conversation.session_id)
        with self._transcript(scope) as transcript:
            transcript.rewind()
            gone = transcript.goes_on(left) if undone else []
        self._take_back(scope, gone)

    def _move(
        self, conversation: HostConversation, scope: ConversationScope, session_id: str, reason: str | None
    ) -> None:
        """Go on in another session of the host, which has the title of this one only if it grew from it."""
        before = self._live(scope)
        title = conversation.session_title if reason in ("branch", "compression") else None
        self._conversation = replace(conversation, session_id=session_id, session_title=title)
        self._settle_title()
        if reason == "compression":
            self._live(self._scope() or scope).continues(before)

    def _end(self, scope: ConversationScope, messages: Sequence[Mapping[str, Any]]) -> None:
        """Take back what was undone since the last turn, as far as the messages show it."""
        with self._transcript(scope) as transcript:
            gone = transcript.is_over(_said_by_user(messages))
        self._take_back(scope, gone)

    def on_session_end(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> None:
        """Let a model read what was said. The last turn may still come."""
        scope = self._scope()
        if scope is not None:
            self._notice_undone()
            self._end(scope, messages)
            self._runtime().ended(scope)

    def on_pre_compress(
        self, messages: Sequence[Mapping[str, Any]], *, require_checkpoint: bool = False, **more: Any
    ) -> str:
        """What memory knows about the latest message, for the summary of the conversation.

        What was said is in the write queue then, of the turn under way too. Raises: StorageUnavailable.
        """
        scope = self._scope()
        if scope is None:
            return ""
        runtime, configuration = self._runtime(), self._configured()
        until = time.monotonic() + configuration.patience
        self._end(scope, messages)
        latest = next((m.get("content") for m in reversed(messages) if m.get("role") == "user"), "")
        asking, told = self._scope_now(), ""
        if asking is not None:
            self._write_ahead(runtime, asking, messages)
            told = self._recall(asking, self._turn).at_once(spoken(latest))
        runtime.flush(max(0.0, until - time.monotonic()))
        return told

    def shutdown(self, **more: Any) -> None:
        """What is not written in time is in the write queue for the next process."""
        self._end_turn()
        scope = self._scope()
        if scope is None:
            return
        self._notice_undone()
        self._end(scope, ())
        runtime = self._runtime()
        runtime.flush(_FLUSH_SECONDS if runtime.near else self._configured().patience)

    def get_config_schema(self, **more: Any) -> list[dict[str, Any]]:
        """What a host's own form may ask; the wizard of `hermes memory setup souvenance` asks better."""
        configuration = self._configured()
        return [_field(key, configuration) for key in KEYS if key.name in _ASKED]

    def save_config(self, values: Mapping[str, Any], hermes_home: str, **more: Any) -> None:
        """Raises: InvalidInput; Misconfigured."""
        home = Path(hermes_home)
        host = self._around.configuration(home, "default")[0].host
        write_setting(home, host, {name: value for name, value in values.items() if value != ""})

    def get_status_config(self, provider_config: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """What `hermes memory status` shows; `hermes souvenance status` shows all."""
        configuration, off = self._configured(), self.unavailable_reason()
        return ({"off": off} if off else self._troubles(configuration)) | {
            "memory": configuration.url or str(configuration.store),
            "workspace": configuration.workspace,
            "recall": configuration.recall_mode,
            "file": str(configuration.file or "none: the defaults"),
        }

    def _troubles(self, configuration: Configuration) -> dict[str, str]:
        state_files = self._around.state_files(configuration)
        health, delay = state_files.health(), state_files.trouble(DELAY)
        silent = "" if health is None or health.ok else health.error
        found = {"does not answer": silent, "not written": delay}
        what_to_do = "To see what is wrong and what to do, run: hermes souvenance status"
        return {name: f"{trouble}. {what_to_do}" for name, trouble in found.items() if trouble}

    def backup_paths(self, **more: Any) -> list[str]:
        """What lies outside the host's home; what lies in it the host finds itself."""
        configuration = self._configured()
        inside = configuration.store.resolve().is_relative_to(configuration.home.resolve())
        return [] if inside or configuration.url is not None else [str(configuration.store)]


def _said_by_user(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [spoken(message.get("content")) for message in messages if message.get("role") == "user"]


def _field(key: ProviderSetting, configuration: Configuration) -> dict[str, Any]:
    """As it is now: a form that knows nothing better writes its default. Where memory is off, what has a
    variable would count as missing."""
    now = "" if key.secret else configuration.value(key.name) or ""
    named = {"env_var": key.kept_as or key.variable} if configuration.enabled else {}
    field = {"key": key.name, "description": key.says, "default": now, "choices": list(key.choices)}
    return {**field, **named, "secret": key.secret}


_ASKED = ("baseUrl", "apiKey", "peerName", "recallMode", "sessionStrategy")
