"""The outside: command line and HTTP. The one rule: an interface calls the service and shows what
it says, nothing else.
"""
