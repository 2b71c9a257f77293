"""Numbers as a person reads them."""


def money(value: float) -> str:
    """Return account currency with two decimals and thin spaces; -0.00 is 0.00."""
    return f"{round(value, 2) + 0.0:,.2f}".replace(",", "\u2009")
