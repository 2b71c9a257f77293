"""Bars: files of bars, their quality, and the feed of closed bars over a terminal."""
