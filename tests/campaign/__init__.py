"""The fault campaign: whole lives of the daemon among random faults, kills and people.

    python -m tests.campaign --runs N

plan        one run as a value: market, strategies, what fails, who interferes; drawn from a seed
stage       the world of a run: the paper terminal, foreign positions, people, the wire that records
daemon      the program on it: mustered, run, killed at a write of its journal
play        a whole run: daemons that die and are started again, then quiet bars
evidence    what journal, wire and account say at the end
invariants  what has to be true of it, whatever has failed
bugs        faults of the program, planted to see that the campaign finds them
killed      a run in child processes, which end by SIGKILL
command     many runs, a table, failing schedules in files
"""
