"""The outside: command line, HTTP, MCP. An interface calls the service and shows what it says."""
