"""The doctor: looks at everything that a run needs, and says what to do about what it finds.

finding    what one check says
ground     what checks stand on: the connection, a strategy and its symbol
setup      settings and disk
link       package, terminal, latency
account    whose account, of which kind, and whether it may trade
names      the broker's names that are like one that it does not have
symbol     symbol, sides, history
clock      the broker's clock, and how old its quotes are
orders     filling, levels, volume
model      file, age, hours; positions that are open
examine    all of them, in order
"""
