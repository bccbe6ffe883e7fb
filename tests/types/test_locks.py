"""Locks and forks."""

from __future__ import annotations

import threading

from llmcore.types.locks import ForkSafeLock, renew_all


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
    lock = ForkSafeLock()
    holder = threading.Thread(target=lock.__enter__)
    holder.start()
    holder.join(10)
    renew_all()  # what a child does first
    with lock:
        pass
