"""Answers of exercises whose piece is smaller than the package's: steps on the way, taught and then outgrown.

`reveal` prints them from here. Where the piece is the package's own, the package is the answer key.
"""
