"""The MQL5 side on Linux: sources become C++, run on the paper terminal, and are compared."""
