"""The embedded terminal: an object that answers as the MetaTrader5 package does.

masks, calling, package   the package's face: names, calling rules, last_error
profile                   a broker as data
series, barseries, tickseries, market   recordings, and what is known of them at a time
coarser                   bars made of those recorded
sessions                  hours of dealing
money                     profit, margin, swap, conversion, rounding
ledger, store             what the account owns, and its file
desk                      all of these at hand; what the account is worth
order                     an order, waiting or done
dealing                   execution of a fill
about, rules, deal_rules, pending_rules   what a request is about, and what is refused
server, answers           what the actions do, and what they answer
pending                   waiting orders as time passes
script                    what the terminal is told to answer next
protection, exits         what happens by itself as time passes
history, views            windows of bars and ticks, and the records that are shown
terminal                  the object itself
exec                      all of it as the module MetaTrader5 of any program
serve                     that module behind an rpyc classic server
"""
