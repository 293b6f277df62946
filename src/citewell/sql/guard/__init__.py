"""A statement is run only where all of it is known to do nothing but read the tables of its
source.
"""
