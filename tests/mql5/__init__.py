"""The MQL5 side, checked on Linux: sources become C++, run on the paper terminal, and are compared."""
