"""What a run under load adds to the report: what the checker of Tests/Faults found, acts that failed, and acts that took long."""

import waits
from checker import Verdict
from pair_load import Sent
from population import Population
from sheet import FILE, Sheet
from waits import Failure

# The worst act of users whose master died; what the population's own core may add to the others' p99, besides half of what it was.
WORST_SECONDS, HEALING_SECONDS, SLACK_SECONDS = 5, 3, 0.05
# Half of the users of Tests/Faults keep a busy machine from being what is measured.
SIZE = 0.5


def judge(sheet: Sheet, name: str, verdict: Verdict, population: Population) -> None:
    """Nothing acknowledged was lost, doubled or out of order, nobody was kicked, and no act failed."""
    population.history.save(FILE.parent / f"{name.replace(' ', '-')}.jsonl")
    records = population.history.records
    sheet.none(f"{name}: acts that failed", waits.refused(records), len(waits.acts(records)))
    for defect in ("lost", "repeated", "reordered"):
        notes = [note for note in verdict.notes if note.startswith(f"{defect}:")]
        sheet.none(f"{name}: messages {defect}", notes, verdict.acknowledged)
    others = [note for note in verdict.notes if note.split(":")[0] not in ("lost", "repeated", "reordered")]
    sheet.none(f"{name}: other defects of the checker (Tests/Faults/README.md)", others)


def judge_failures(sheet: Sheet, failures: list[Failure], population: Population, *, strictly: bool = True) -> None:
    """Users of a master that died wait a few seconds, the others no longer than before.

    Not `strictly`, for a machine that runs all tests: from the moment when the slots have a master again, and for most of the others.
    """
    records, app = population.history.records, population.stack.open_app.id
    for failure in failures:
        hit, others = waits.split(app, records, failure)
        calm = waits.before(records, failure.begun, 5)
        away = failure.healed - failure.begun
        share = 0.99 if strictly else 0.5
        sheet.note(f"{failure.name} killed: until all slots had a master", f"{away:.1f} s")
        sheet.at_most(
            f"{failure.name} killed: worst of {len(hit)} acts of its users", waits.worst(hit),
            WORST_SECONDS if strictly else round(away + HEALING_SECONDS, 1), " s")
        sheet.at_most(
            f"{failure.name} killed: {share:.0%} of {len(others)} acts of others, with {waits.quantile(calm, share) * 1e3:.0f} ms before",
            waits.quantile(others, share), round(1.5 * waits.quantile(calm, share) + SLACK_SECONDS, 3), " s")


def judge_pairs(sheet: Sheet, name: str, load: Sent) -> None:
    """No message of the pairs was lost, doubled, out of order or refused."""
    sheet.note(f"{name}: messages a second of the pairs", round(load.delivered / load.seconds))
    sheet.none(f"{name}: messages of the pairs that were lost, doubled, out of order or refused", load.faults, load.delivered)


def judge_move(sheet: Sheet, name: str, load: Sent, during: tuple[float, float], population: Population) -> None:
    """While slots move, nobody waits for long."""
    found = [act for act in waits.acts(population.history.records) if act["t1"] >= during[0] and act["t0"] <= during[1]]
    sheet.at_most(f"{name}: worst of {len(found)} acts", waits.worst(found), 1, " s")
    sheet.at_most(f"{name}: slowest message of the pairs", load.worst, 1, " s")
