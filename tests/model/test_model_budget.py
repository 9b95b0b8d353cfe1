"""Budgets: checked before a call, shared by all processes of a folder, and kept over a restart."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.world import FakeClock
from model.stand_in import Fails, Says
from model.world import NOON, Thinker, fact, facts, inquiry
from souvenance.adapters.model.calls import ModelBudget
from souvenance.domain.model_budget import Allowance, Spent, seconds_left
from souvenance.errors import ModelBudgetSpent, ModelUnavailable

HOUR = 3_600_000
MANY = Allowance()
SAID = "Evenings mean sewing, quilts mostly."
GOOD = facts(fact("ann sews quilts", "t1"))
KNOWN = "ann lives in Lisbon"


def a_budget(folder, whole=MANY, each=MANY, clock=None):
    return ModelBudget(folder / "model.spend", whole=whole, each=each, now=(clock or FakeClock(NOON)).now)


LIMITS = {
    "calls per hour": Allowance(calls_per_hour=2),
    "calls per day": Allowance(calls_per_day=2),
    "tokens per hour": Allowance(tokens_per_hour=250),
    "tokens per day": Allowance(tokens_per_day=250),
}


@pytest.mark.parametrize("whose", ["installation", "workspace"])
@pytest.mark.parametrize("limit", LIMITS)
def test_what_would_break_a_limit_is_refused_and_not_counted(tmp_path, limit, whose):
    budget = a_budget(tmp_path, **{"whole" if whose == "installation" else "each": LIMITS[limit]})
    for _ in range(2):
        budget.reserve("w", 100)
    with pytest.raises(ModelBudgetSpent, match=f"{limit} of the {whose}") as raised:
        budget.reserve("w", 100)
    assert raised.value.retry_after == (12 * 3600 if limit.endswith("day") else 3600)
    assert budget.spent("w")[0].calls_today == 2
    if whose == "workspace":
        budget.reserve("another", 100)


@pytest.mark.parametrize(("limit", "later"), [("calls per hour", HOUR), ("calls per day", 12 * HOUR)])
def test_a_new_hour_and_a_new_day_begin_with_nothing_spent(tmp_path, limit, later):
    clock = FakeClock(NOON)
    budget = a_budget(tmp_path, LIMITS[limit], clock=clock)
    for _ in range(2):
        budget.reserve("w", 100)
    clock.advance(ms=later - 1)
    with pytest.raises(ModelBudgetSpent):
        budget.reserve("w", 100)
    clock.advance(ms=1)
    budget.reserve("w", 100)


def test_what_a_call_did_cost_takes_the_place_of_what_it_might_have(tmp_path):
    budget = a_budget(tmp_path)
    budget.settle(budget.reserve("w", 1000), 30)
    budget.settle(budget.reserve("w", 10), 50)
    assert [(spent.calls_today, spent.tokens_today) for spent in budget.spent("w")] == [(2, 80), (2, 80)]
    assert budget.spent("another")[1] == Spent().at(NOON)


def test_a_call_that_ends_in_another_hour_is_corrected_only_for_the_day(tmp_path):
    clock = FakeClock(NOON)
    budget = a_budget(tmp_path, clock=clock)
    reservation = budget.reserve("w", 1000)
    clock.advance(ms=HOUR)
    budget.reserve("w", 5)
    budget.settle(reservation, 30)
    spent = budget.spent("w")[0]
    assert (spent.tokens_this_hour, spent.tokens_today) == (5, 35)


def test_what_was_spent_is_known_after_a_restart(tmp_path):
    a_budget(tmp_path).reserve("w", 1000)
    assert a_budget(tmp_path).spent("w")[0].tokens_today == 1000


def test_two_processes_share_one_budget(tmp_path):
    script = """
import sys
from pathlib import Path
from souvenance.adapters.model.calls import ModelBudget
from souvenance.domain.model_budget import Allowance
from souvenance.errors import ModelBudgetSpent
most = Allowance(calls_per_day=50)
purse = ModelBudget(Path(sys.argv[1]), whole=most, each=most, now=lambda: int(sys.argv[2]))
made = 0
for _ in range(40):
    try:
        purse.reserve("w", 1)
        made += 1
    except ModelBudgetSpent:
        pass
print(made)
"""
    told = [str(tmp_path / "model.spend"), str(NOON)]
    running = [
        subprocess.Popen([sys.executable, "-c", script, *told], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sum(int(one.communicate(timeout=60)[0]) for one in running) == 50


def test_many_threads_share_one_budget(tmp_path):
    budget = a_budget(tmp_path, Allowance(calls_per_day=30))
    made = []

    def spend():
        for _ in range(10):
            try:
                made.append(budget.reserve("w", 1))
            except ModelBudgetSpent:
                return

    threads = [threading.Thread(target=spend) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 30


@pytest.mark.parametrize("content", ["", "not json", "[]", '{"*": 7}'])
def test_a_file_that_can_not_be_read_means_that_nothing_is_spent(endpoint, tmp_path, content):
    thinker = Thinker(endpoint, tmp_path)
    thinker.spend.write_text(content)
    thinker.spend.chmod(0o600)
    with pytest.raises(ModelBudgetSpent):
        thinker.noted(SAID)
    assert endpoint.asked == []
    assert "can't be read" in thinker.model.standing("w").trouble


def test_a_file_that_others_could_have_written_is_not_believed(endpoint, tmp_path):
    thinker = Thinker(endpoint, tmp_path)
    thinker.spend.write_text("{}")
    thinker.spend.chmod(0o666)
    with pytest.raises(ModelBudgetSpent):
        thinker.noted(SAID)
    assert endpoint.asked == []


def test_the_file_names_no_workspace_and_is_the_owners_alone(tmp_path):
    a_budget(tmp_path).reserve("a-secret-project", 1)
    file = tmp_path / "model.spend"
    assert "secret" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_accounts_that_nobody_used_today_are_not_kept(tmp_path):
    clock = FakeClock(NOON)
    budget = a_budget(tmp_path, clock=clock)
    budget.reserve("w", 1)
    clock.advance(ms=24 * HOUR)
    budget.reserve("another", 1)
    assert (tmp_path / "model.spend").read_text().count("calls_today") == 2


class TestTheModelWithinItsBudget:
    def test_over_budget_it_is_not_asked_and_says_so_once(self, endpoint, tmp_path):
        thinker = Thinker(endpoint, tmp_path, whole=Allowance(calls_per_hour=1))
        endpoint.plays(GOOD)
        assert "ann sews quilts" in thinker.noted(SAID)
        for _ in range(3):
            with pytest.raises(ModelBudgetSpent):
                thinker.noted(SAID)
        assert len(endpoint.asked) == 1
        assert len(thinker.complaints) == 1
        assert "calls per hour" in thinker.complaints[0]
        assert "calls per hour" in thinker.model.standing("w").trouble
        thinker.clock.advance(seconds=3600)
        assert "ann sews quilts" in thinker.noted(SAID)

    def test_a_summary_and_an_answer_cost_too_much_too(self, endpoint, tmp_path):
        thinker = Thinker(endpoint, tmp_path, whole=Allowance(tokens_per_day=10))
        with pytest.raises(ModelBudgetSpent):
            thinker.summary("I live in Lisbon.")
        with pytest.raises(ModelBudgetSpent):
            thinker.told("Where does ann live?", KNOWN)
        assert endpoint.asked == []

    def test_one_workspace_can_not_spend_what_is_anothers(self, endpoint, tmp_path):
        thinker = Thinker(endpoint, tmp_path, each=Allowance(calls_per_hour=1))
        endpoint.plays(GOOD)
        thinker.noted(SAID)
        with pytest.raises(ModelBudgetSpent):
            thinker.noted(SAID)
        thinker.workspace = "another"
        assert "ann sews quilts" in thinker.noted(SAID)

    def test_a_call_is_counted_before_it_is_made(self, endpoint, tmp_path):
        thinker = Thinker(endpoint, tmp_path)
        seen = []

        def reply(asked):
            seen.append(thinker.budget.spent("w")[0])
            return Says('{"add": []}', usage=33)

        endpoint.plays(reply)
        thinker.noted(SAID)
        assert seen[0].calls_today == 1
        assert seen[0].tokens_today > 1200
        assert thinker.budget.spent("w")[0].tokens_today == 33

    def test_an_endpoint_that_does_not_say_what_it_cost_is_counted_by_us(self, endpoint, tmp_path):
        thinker = Thinker(endpoint, tmp_path)
        endpoint.plays(Says('{"add": []}', usage=None))
        thinker.noted(SAID)
        assert 100 < thinker.budget.spent("w")[0].tokens_today < 2000

    def test_failures_use_up_the_budget(self, endpoint, tmp_path):
        thinker = Thinker(endpoint, tmp_path, whole=Allowance(calls_per_hour=3))
        endpoint.plays(Fails(500))
        for _ in range(3):
            with pytest.raises(ModelUnavailable):
                thinker.told("Where does ann live?", KNOWN)
            thinker.clock.advance(seconds=60)
        with pytest.raises(ModelBudgetSpent):
            thinker.told("Where does ann live?", KNOWN)
        assert len(endpoint.asked) == 3

    def test_an_answer_that_nobody_reads_to_its_end_stays_counted(self, endpoint, tmp_path):
        thinker = Thinker(endpoint, tmp_path)
        endpoint.plays(Says(pieces=("ann lives in a house ", "in Lisbon ", "[s1]")))
        telling = thinker.model.tell(thinker.workspace, inquiry("Where?", KNOWN, streamed=True))
        next(telling)
        telling.close()
        spent = thinker.budget.spent("w")[0]
        assert (spent.calls_today, spent.tokens_today > 500) == (1, True)


@given(
    calls=st.lists(
        st.tuples(st.integers(0, 3 * HOUR), st.integers(0, 100), st.integers(0, 120)), max_size=20
    ),
    most=st.integers(1, 150),
)
def test_no_order_of_calls_reserves_more_than_a_limit(calls, most):
    spent, now, allowance = Spent(), NOON, Allowance(tokens_per_hour=most, calls_per_hour=5)
    for later, tokens, cost in calls:
        now += later
        spent = spent.at(now)
        if spent.lacks(allowance, tokens):
            continue
        spent = spent.with_call(tokens)
        assert spent.tokens_this_hour <= most
        assert spent.calls_this_hour <= 5
        spent = spent.corrected(now, min(cost, tokens) - tokens)
        assert spent.tokens_this_hour >= 0


@given(st.integers(0, 10**15))
def test_a_spent_budget_comes_back_when_its_time_is_over(now):
    for of_the_day in (False, True):
        left = seconds_left(now, of_the_day=of_the_day)
        fresh = Spent().at(now).with_call(1).at(now + left * 1000)
        assert (fresh.calls_today if of_the_day else fresh.calls_this_hour) == 0
