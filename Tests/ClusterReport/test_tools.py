"""What the report's own parts compute, without a cluster."""

import other_suites
import report
import slots
import waits
from bench import hot_keys
from checker import Verdict
from other_suites import Durability, SceneResult
from waits import Failure


def act(**fields: object) -> dict:
    return {"kind": "act", "reason": "", "ok": True, "t0": 1.0, "t1": 2.0, **fields}


def test_slots_are_those_of_redis():
    # From CLUSTER KEYSLOT.
    assert (slots.slot("foo"), slots.slot("123456789")) == (12182, 12739)
    assert slots.user_slot("app", "anna") % 4 == 0


def test_who_is_hit_by_a_failure():
    said = act(who="anna", act="say", channel="room")
    told = act(who="anna", act="send", to="ben")
    away = Failure("redis#1", 1.5, 3, frozenset({slots.user_slot("app", "ben")}))
    later = act(who="ben", act="send", to="anna", t0=4.0, t1=5.0)
    assert waits.split("app", [said, told, later], away) == ([told], [said])


def test_acts_that_failed_are_told_from_ordinary_ones():
    records = [
        act(who="anna", act="say", channel="room", ok=False, reason="not_member"),
        act(who="anna", act="send", to="ben", ok=None, reason="connection lost"),
        act(who="anna", act="send", to="ben", ok=False, reason="unavailable")]
    assert waits.refused(records) == ["anna: send unavailable"]


def test_the_keys_of_a_command():
    assert hot_keys.keys_of(["FCALL", "f", "2", "{a}k", "{a}k!", "x"]) == {"{a}k"}
    assert hot_keys.keys_of(["XREADGROUP", "GROUP", "g", "c", "COUNT", "9", "STREAMS", "one", "two", ">", ">"]) == {"one", "two"}
    assert hot_keys.keys_of(["XINFO", "CONSUMERS", "one", "g"]) == {"one"}
    assert hot_keys.keys_of(["SPUBLISH", "topic", "text"]) == {"topic"}
    assert hot_keys.keys_of(["PING"]) == set()


def test_what_the_suite_of_durability_says():
    said = "Build complete!\ndurability: 100 kills, 31234 acknowledged, 2 lost; 17 lost without\nTest run with 1 test failed"
    assert other_suites.durability(said) == Durability(100, 31_234, 2, 17)
    assert other_suites.durability("error: fatalError") is None


def test_what_the_suite_of_hosts_says():
    verdict = Verdict(sent=900, acknowledged=880)
    table = "\n".join([f"{report.header()} seed", f"{report.line('cluster: master killed, replica 500 ms behind', verdict)} 13"])
    results = """<testsuites><testsuite>
        <testcase name="test_scene[cluster: master killed, replica 500 ms behind]"/>
        <testcase name="test_scene[single: 1 % lost everywhere]"><failure message="no stack&#10;more">...</failure></testcase>
        </testsuite></testsuites>"""
    assert other_suites.scenes(results, table) == [
        SceneResult("cluster: master killed, replica 500 ms behind", [], 880), SceneResult("single: 1 % lost everywhere", ["no stack"], None)]
