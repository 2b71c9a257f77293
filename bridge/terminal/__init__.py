"""Terminals: adapters that turn anything with the MetaTrader5 package's API into a ``Terminal``."""
