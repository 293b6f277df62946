"""Who can be asked to search the web. A provider finds addresses and reads no page."""
