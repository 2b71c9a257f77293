"""Faults on purpose: a wrapper that makes any terminal fail by a schedule, the same way each time.

kinds      what can go wrong, and with which verbs: the table
schedule   when it goes wrong: scripted, drawn from a seed, saved, loaded
effects    what each kind does to a call
world      what faults leave behind: what is hidden, late or forgotten for some calls
terminal   the ``Terminal`` on top
"""
