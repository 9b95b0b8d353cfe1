"""What the SDK does by itself when an answer gets lost: it sends the request again."""

from __future__ import annotations

import httpx

from scenarios.claims import equal
from scenarios.registry import scenario


class LosesTheFirstAnswer(httpx.HTTPTransport):
    """A wire on which the answer to the first batch of messages never arrives, though the server has it."""

    lost = 0

    def handle_request(self, request):
        answer = super().handle_request(request)
        if request.url.path.endswith("/messages") and not self.lost:
            answer.read()
            self.lost += 1
            raise httpx.ReadTimeout("the answer was lost", request=request)
        return answer


@scenario("Session.add_messages", flavours=("sync",))
async def a_batch_sent_again_after_a_lost_answer_is_stored_once(world):
    wire = LosesTheFirstAnswer()
    with httpx.Client(transport=wire) as unlucky:
        honcho = world.client(http_client=unlucky)
        ann, talk = await honcho.peer("ann"), await honcho.session("talk")
        said = await talk.add_messages([ann.message("one"), ann.message("two")])
        equal((wire.lost, [message.content for message in said]), (1, ["one", "two"]))
        stored = [(message.id, message.content) async for message in await talk.messages()]
        equal(stored, [(message.id, message.content) for message in said])
