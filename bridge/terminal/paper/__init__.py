"""The embedded terminal: an object that answers as the MetaTrader5 package does.

masks, calling, package   the package's face: names, calling rules, last_error
profile                   a broker as data
series, barseries, tickseries, market   recordings, and what is known of them at a time
coarser                   bars made of those recorded
sessions                  hours of dealing
money                     profit, margin, swap, conversion, rounding
ledger, store             what the account owns, and its file
desk                      all of these at hand; what the account is worth
dealing                   execution of a fill
rules, server             what is refused, and the answers of order_check and order_send
protection                what happens by itself as time passes
history, views            windows of bars and ticks, and the records that are shown
terminal                  the object itself
"""
