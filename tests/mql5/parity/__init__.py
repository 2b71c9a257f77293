"""The same model over the same bars by the daemon and by an EA, on two paper terminals, compared.

markets     symbols, bars and brokers
daemon      the daemon's run, read from its journal
expert      the EA's run, read from its CSV and from what it sent
compare     what differs
table       cases, and the table of their results
"""
