"""The paper terminal for programs that ``import MetaTrader5``.

prepare           what the command lays out for an account: needs the whole bridge
plan, broker      what was laid out, as plain JSON
module            the package's face in the program's process: needs numpy only
path/MetaTrader5  what the program imports; the one folder that is put on its path
"""
