"""Locks and forks."""

from __future__ import annotations

import threading

from llmcore.support.code.fork_safe_lock import ForkSafeLock, renew_all


def test_it_is_held_by_one_thread_at_a_time_and_reentrant() -> None:
    lock, entered = ForkSafeLock(), threading.Event()

    def enter() -> None:
        with lock:
            entered.set()

    with lock, lock:
        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.02)
    thread.join(10)
    assert entered.is_set()


def test_in_a_forked_child_it_is_free_although_another_thread_held_it() -> None:
    lock, held, end = ForkSafeLock(), threading.Event(), threading.Event()

    def hold() -> None:
        lock.__enter__()
        held.set()
        end.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(10)
    renew_all()  # what a child does first
    entering = threading.Thread(target=lock.__enter__, daemon=True)
    entering.start()
    entering.join(5)
    end.set()
    assert not entering.is_alive()
