"""The paper terminal: a broker and a terminal in one, behind the MetaTrader5 package's API."""
