"""How near lines lie to a question: the same, whether few of them are asked for or all."""

import random
import struct

from souvenance.adapters.index.compartments import Meanings
from souvenance.adapters.index.lazy_numpy import np
from souvenance.domain.seal import pack

LINES, WIDTH = 600, 24


def vector(chance):
    return struct.pack(f"<{WIDTH}f", *(chance.uniform(-1, 1) for _ in range(WIDTH)))


def ids_of(names):
    return np.array(names, dtype="S26")


def test_a_few_lines_lie_as_near_as_they_do_among_all():
    chance = random.Random(7)
    names = [f"{at:026}".encode() for at in range(LINES)]
    made = {name: pack(vector(chance)) for name in names}
    question = np.frombuffer(vector(chance), dtype="<f4")
    few = [*chance.sample(names, 40), b"9" * 26]

    def near(asked, wanted=None):
        meanings = Meanings()
        meanings.follow(1, made)
        meanings.forget(few[0])
        mask = np.array([wanted is None or name in wanted for name in asked])
        return dict(zip(asked, meanings.near(ids_of(asked), question, mask).tolist(), strict=True))

    among_all = near([*names, few[-1]])
    assert near(few) == {name: among_all[name] for name in few}
    assert sum(one > 0 for one in near(few).values()) > 10
    assert among_all[few[0]] == among_all[few[-1]] == 0.0
    wanted = near([*names, few[-1]], few)
    assert wanted == {name: among_all[name] * (name in few) for name in wanted}
