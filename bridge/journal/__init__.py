"""The journal: everything seen, decided, sent and answered, on disk before it matters."""
