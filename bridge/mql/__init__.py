"""Expert advisors for MQL5 from a model and its settings, and their decisions held to the daemon's.

Layout: ``fit`` says what a terminal can't run, ``settings`` and ``include`` and ``preset`` write
texts, ``program`` fills a template, ``project`` is the folder, ``csvfile``, ``parity``, ``cause``
and ``picture`` compare a CSV with the daemon.
"""
