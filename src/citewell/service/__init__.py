"""What every interface calls, one verb a file. The one rule: an interface decides nothing, and the
service shows nothing.
"""
