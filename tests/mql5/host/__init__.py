"""MQL5 sources read, translated, compiled and run.

tokens, preprocess      text to tokens, directives done
signatures, names       what the terminal offers, and what a source may therefore name
expressions, statements, declarations   the grammar; C++ comes out as it is read
translate               one source to one C++ file
compiler                g++, with a cache
library                 the compiled program, and calls between it and Python
program                 an expert, script or indicator on the paper terminal
answers                 what the terminal answers to each built-in function
"""
