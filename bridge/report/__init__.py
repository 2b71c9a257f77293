"""Reports: statistics read from the journal and the account's deals."""
