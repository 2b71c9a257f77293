"""The vocabulary: names, values and rules of MetaTrader 5 that every other room speaks. No I/O."""
