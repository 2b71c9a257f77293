"""The real package in a child process, spoken to over a pipe.

wire       frames, values and verbs as bytes; nothing is pickled
child      the other process: imports the package and answers verbs
answer     what a verb gave, made again here; what gives it
process    its life as the parent sees it: start, ask within a limit, stop, kill
limits     how long each verb may take
settings   which interpreter, which terminal, which account
identity   logging in, and refusing the wrong account
backoff    when to try again
link       a module-like object that reconnects
terminal   the ``Terminal`` on top
"""
