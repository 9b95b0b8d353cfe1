"""A request to a model as the client wrote it, and as it goes on: only what has to change is changed.

What is not touched stays the very bytes that came. A request that can't be understood as a conversation
goes on as it is; the endpoint says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Raw, Struct

from souvenance.agents.transcript import spoken
from souvenance.decoders import UNREADABLE, settled
from souvenance.domain.frame import framed, unmarked
from souvenance.errors import InvalidInput

_encode = msgspec.json.encode
_INSTRUCTING = ("system", "developer")


class RequestDialect(Struct, frozen=True):
    """One of the ways to ask a model."""

    path: str
    items: str
    """The field that the conversation is in."""
    text_part: str
    """The kind of a part of a message that is text."""


COMPLETIONS = RequestDialect("/chat/completions", "messages", "text")
RESPONSES = RequestDialect("/responses", "input", "input_text")
_PREVIOUS, _CONVERSATION = "previous_response_id", "conversation"
"""Fields that say that the endpoint knows the conversation so far."""


class _MessageItem(Struct):
    role: Any = None
    type: Any = None
    content: Raw = Raw(b"null")


_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_items = msgspec.json.Decoder(list[Raw]).decode
_item = msgspec.json.Decoder(settled(_MessageItem)).decode
_value = msgspec.json.Decoder().decode
_MOST_HEARD = 200_000
"""Characters of a text: of more, memory takes no notice."""
_MOST_PARTS = 100
_HIGH, _LOW = (rb"u[dD][%s][\da-fA-F]{2}" % digits for digits in (b"89abAB", b"c-fC-F"))
_ESCAPED = re.compile(rb"\\(?:%s\\%s|(?P<half>%s|%s)|.)" % (_HIGH, _LOW, _HIGH, _LOW), re.DOTALL)
"""What is written with a backslash: of two halves of a character, one, or something else."""
_UNKNOWN = rb"\ufffd"


class Talk:
    def __init__(self, dialect: RequestDialect, body: bytes) -> None:
        """Raises: InvalidInput."""
        self.dialect = dialect
        self.body, self._fields = _understood(body)
        self._whole, self._items = self._read()
        """What a message is made of, if the conversation is a mere text; else its messages."""

    def _read(self) -> tuple[bool, list[Raw]]:
        given = self._fields.get(self.dialect.items)
        if given is None:
            return False, []
        try:
            if self.dialect is RESPONSES and bytes(given)[:1] == b'"':
                return True, [Raw(_encode({"role": "user", "content": given}))]
            return False, _items(given)
        except UNREADABLE:
            return False, []

    @property
    def model(self) -> str:
        found = self._decoded("model")
        return found if isinstance(found, str) else ""

    @property
    def streams(self) -> bool:
        return self._decoded("stream") is True

    @property
    def user(self) -> str | None:
        """OpenAI's own word on who speaks. Raises: InvalidInput."""
        found = self._decoded("user")
        if found is not None and not isinstance(found, str):
            raise InvalidInput("user must be a string")
        return found

    def _decoded(self, field: str) -> Any:
        try:
            return _value(self._fields.get(field, b"null"))
        except UNREADABLE:
            return None

    @cached_property
    def _known(self) -> list[_MessageItem]:
        return [_read_item(one) for one in self._items]

    @cached_property
    def _last(self) -> int | None:
        """Where the user spoke last."""
        return max((at for at, one in enumerate(self._known) if one.role == "user"), default=None)

    @cached_property
    def asked(self) -> str:
        """What the user said last, cleaned."""
        return "" if self._last is None else _said(self._known[self._last])

    @property
    def alone(self) -> bool:
        """Whether nothing is told of the conversation before the user's last message."""
        known = any(field in self._fields for field in (_PREVIOUS, _CONVERSATION))
        before = [_MessageItem()] if self._last is None else self._known[: self._last]
        return not known and all(one.role in _INSTRUCTING for one in before)

    @property
    def conversation(self) -> str:
        """The name of the conversation that the endpoint keeps; empty if it keeps none."""
        found = self._decoded(_CONVERSATION)
        found = found.get("id") if isinstance(found, dict) else found
        return found if isinstance(found, str) else ""

    @property
    def follows(self) -> str:
        """The name of what the endpoint goes on from: a conversation or an answer."""
        found = self._decoded(_PREVIOUS)
        return found if isinstance(found, str) else self.conversation

    @cached_property
    def shown(self) -> str:
        """What was said before and is before the model."""
        return "\0".join(_said(one) for one in self._known[: self._last])

    def answered(self, text: str) -> str:
        """The answer, after what the assistant said between its calls of tools."""
        since = () if self._last is None else self._known[self._last + 1 :]
        texts = (_said(one) for one in since if one.role == "assistant")
        return "\n\n".join(filter(None, (*texts, text)))

    def onward(self, model: str, background: str) -> bytes:
        """What the endpoint is sent, with what memory gives in a frame after the last message.

        A tag of the frame that a user wrote becomes words: what stands in the frame is from memory.
        """
        last = self._last
        items = [
            _changed(item, lambda content: _rewritten(content, unmarked)) if known.role == "user" else item
            for item, known in zip(self._items, self._known, strict=True)
        ]
        if background and last is not None:
            items[last] = _changed(items[last], lambda content: self._with(content, framed(background)))
        changed = dict(self._fields)
        if any(new is not old for new, old in zip(items, self._items, strict=True)):
            whole = _fields(items[0])["content"] if self._whole else _encode(items)
            changed[self.dialect.items] = Raw(whole)
        if model != self.model:
            changed["model"] = Raw(_encode(model))
        return self.body if changed == self._fields else _encode(changed)

    def _with(self, content: Any, text: str) -> Any:
        if isinstance(content, str):
            return f"{content}\n\n{text}" if content else text
        part = {"type": self.dialect.text_part, "text": text}
        return [*content, part] if isinstance(content, list) else content


def _understood(body: bytes) -> tuple[bytes, dict[str, Raw]]:
    """The body and its fields; half a character, as of a cut emoji, becomes the one for unknown ones.

    Raises: InvalidInput.
    """
    try:
        return body, _fields(body)
    except UNREADABLE as error:
        mended = _ESCAPED.sub(lambda found: _UNKNOWN if found["half"] else found[0], body)
        if mended == body:
            raise InvalidInput(f"the body is not a JSON object that can be read: {error}") from None
        return _understood(mended)


def _changed(item: Raw, change: Callable[[Any], Any]) -> Raw:
    """The message with another content; the very same, if that stays as it is."""
    try:
        fields = _fields(item)
        content = _value(fields.get("content", b"null"))
    except UNREADABLE:
        return item
    changed = change(content)
    if changed == content:
        return item
    return Raw(_encode({**fields, "content": _merged(fields["content"], content, changed)}))


def _merged(raw: Raw, content: Any, changed: Any) -> Any:
    """The changed content; of one in parts, the parts that stay are the bytes that came."""
    if not isinstance(changed, list):
        return changed
    parts: Iterable[Raw] = _items(raw)
    kept = [old if one == now else now for old, one, now in zip(parts, content, changed, strict=False)]
    return [*kept, *changed[len(content) :]]


def _read_item(item: Raw) -> _MessageItem:
    try:
        found = _item(item)
    except UNREADABLE:
        return _MessageItem()
    return found if found.type in (None, "message") else _MessageItem(type=found.type)


def _said(item: _MessageItem) -> str:
    """What the message says, cleaned."""
    try:
        content = _value(item.content)
    except UNREADABLE:
        return ""
    heard = content[:_MOST_PARTS] if isinstance(content, list) else content
    return spoken(_rewritten(heard, lambda text: text[:_MOST_HEARD]))


def _rewritten(content: Any, change: Callable[[str], str]) -> Any:
    """The content of a message with its text changed, or the text of each of its parts."""
    match content:
        case str():
            return change(content)
        case list():
            return [part if isinstance(part, list) else _rewritten(part, change) for part in content]
        case {"text": str(text)}:
            return {**content, "text": change(text)}
        case _:
            return content
