"""A question asked on somebody's behalf comes apart again."""

from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.representation import RELAY_CHARS, relayed, unrelayed

plain = st.text(st.characters(exclude_characters="\n"), min_size=1)


@given(plain, plain)
def test_what_is_wanted_and_what_was_written_come_apart_as_they_were_put_together(wanted, wrote):
    question = relayed(wanted, wrote)
    assert unrelayed(question) == (wanted, wrote)
    assert len(question) == len(wanted) + len(wrote) + RELAY_CHARS


@given(st.text())
def test_a_question_that_nobody_relays_stays_whole(question):
    assert relayed("", question) == relayed(question, "") == question
    assert unrelayed(question) == ("", question)


@given(plain, plain, plain)
def test_an_answer_before_it_can_not_pose_as_what_the_person_wrote(wanted, posed, wrote):
    assert unrelayed(relayed(relayed(wanted, posed), wrote))[1] == wrote
