"""A block of LlamaIndex' memory, alone and in its `Memory`."""

import re

import planted
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from souvenance.integrations.llama_index import SouvenanceMemoryBlock

FRAMED = re.compile(
    r"\s*<memory>\s*<souvenance>\s*<memory-context>\n(.*)\n\n((?:.|\n)*)\n</memory-context>"
    r"\s*</souvenance>\s*</memory>\s*"
)


def _memory(peer, session):
    return Memory.from_defaults(
        session_id=session,
        token_limit=40,
        token_flush_size=10,
        chat_history_token_ratio=0.5,
        tokenizer_fn=str.split,
        memory_blocks=[SouvenanceMemoryBlock(peer, priority=0)],
    )


async def what_leaves_the_short_term_memory_is_recalled_in_another_session(world):
    first = _memory(world.peer, f"{world.user}-1")
    await first.aput(ChatMessage(role="user", content="I live in Lisbon with a dog called Rex."))
    await first.aput(ChatMessage(role="assistant", content="Nice."))
    for number in range(6):
        await first.aput(
            ChatMessage(role="user", content=f"Tell me about number {number}, please, in a few words.")
        )
        await first.aput(
            ChatMessage(role="assistant", content=f"It comes after {number - 1} and before {number + 1}.")
        )
    assert next(world.memory.session(f"{world.user}-1").messages()).text.startswith("I live")
    second = _memory(world.peer, f"{world.user}-2")
    await second.aput(ChatMessage(role="user", content="What is my dog called?"))
    system, *_ = await second.aget()
    assert system.role.value == "system"
    assert "<souvenance>" in system.content
    assert "Rex" in system.content


async def the_block_answers_the_newest_message_of_the_user(world):
    world.peer.put("I live in Lisbon")
    block = SouvenanceMemoryBlock(world.peer)
    asked = [
        ChatMessage(role="user", content="Where do I live?"),
        ChatMessage(role="assistant", content="Hm."),
    ]
    assert "I live in Lisbon" in await block.aget(asked)
    assert await block.aget([ChatMessage(role="user", content="who won the chess match?")]) == ""
    assert await block.aget([]) == ""


async def the_agent_s_words_are_not_the_user_s(world):
    block = SouvenanceMemoryBlock(world.peer, agent=f"{world.user}-agent")
    await block.aput(
        [
            ChatMessage(role="user", content="I live in Lisbon"),
            ChatMessage(role="assistant", content="I live in Rome"),
        ]
    )
    assert {one.peer for one in world.memory.session("souvenance").messages() if world.user in one.peer} == {
        world.user,
        f"{world.user}-agent",
    }
    assert "Rome" not in await block.aget([ChatMessage(role="user", content="Where do I live?")])


async def two_users_never_cross(world):
    await SouvenanceMemoryBlock(world.peer).aput(
        [ChatMessage(role="user", content="I am allergic to penicillin")]
    )
    asked = [ChatMessage(role="user", content="penicillin?")]
    assert await SouvenanceMemoryBlock(world.memory.peer(world.other)).aget(asked) == ""
    with world.lent(world.other) as lent:
        assert await SouvenanceMemoryBlock(lent.peer(world.other)).aget(asked) == ""


async def planted_orders_stand_in_one_frame_and_those_of_others_come_only_for_a_question(world):
    planted.plant(world, "personal")
    seen = set()
    for number, message in enumerate((planted.statement(), *planted.questions())):
        memory = _memory(world.peer, f"{world.user}-{number}")
        await memory.aput(ChatMessage(role="user", content=message))
        system, *_ = await memory.aget()
        if "<souvenance>" not in system.content:
            continue
        found = FRAMED.fullmatch(system.content)
        assert found, system.content
        assert planted.NOTE.fullmatch(found[1])
        assert all(line.startswith("- 20") for line in found[2].split("\n")), found[2]
        seen |= planted.check(found[2], asked=number > 0)
    assert seen == {"own", "document", "tool"}
