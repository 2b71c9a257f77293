"""What the terminal answers; a method ``symbol_info_tick`` answers ``SymbolInfoTick``.

market      symbols, account, bars, time
trading     orders, positions, history
files       the sandbox
onnx        sessions of onnxruntime, with the terminal's refusals
machine     log, timer, global variables, hashes, tester
"""
