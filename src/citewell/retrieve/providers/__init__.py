"""Who can be asked to search the web; one provider a file. The one rule: a provider finds addresses
and reads no page.
"""
