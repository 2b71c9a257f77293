"""The report as one HTML page: sections in, a file that needs nothing else out."""
