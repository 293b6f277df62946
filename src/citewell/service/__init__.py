"""What every interface calls, one verb a file. An interface decides nothing, and the service shows
nothing.
"""
