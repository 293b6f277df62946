"""What lives as long as the process: the open App, its limits, its shutdown, and what a user may
see of it.
"""
