"""How long a training goes on in one command."""

from arena.training.time_limit import TimeLimit


def test_no_piece_is_begun_that_would_pass_the_limit_and_the_first_is_trained_anyway() -> None:
    now = [100.0]
    limit = TimeLimit(10.0, clock=lambda: now[0])
    now[0] = 200.0
    assert not limit.is_up()

    now[0] = 100.0
    limit = TimeLimit(60.0, clock=lambda: now[0])
    now[0] += 40
    limit.trained(40.0, compiled=True)
    # What the first piece took is the compiler's time, and says nothing of the next.
    assert not limit.is_up()
    now[0] += 9
    limit.trained(9.0, compiled=False)
    assert not limit.is_up()
    now[0] += 9
    limit.trained(9.0, compiled=False)
    assert limit.is_up()


def test_without_a_limit_time_is_never_up() -> None:
    limit = TimeLimit(None)
    limit.trained(1e9, compiled=False)
    assert not limit.is_up()
