"""What a terminal answered, kept in a file: recorded from any ``Terminal``, replayed as one.

``README.md`` beside this file has the format.
"""
