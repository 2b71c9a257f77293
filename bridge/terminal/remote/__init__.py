"""The real package in another computer's Python, behind an rpyc classic server as mt5linux runs it.

The server stays as it is: the text of ``host/wire.py`` is sent to it once a connection, and from
then on a call is one message of bytes there and one back. What reconnects, logs in and refuses
the wrong account is the host's.

address    host and port, as the settings name them
stream     a socket whose reads and writes end in time
bundle     what a bar's close will ask next, asked at once
server     the connection: open, ask within a limit, drop
terminal   the ``Terminal`` on top
"""
