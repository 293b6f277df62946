"""Questions to tables that people keep, and the boards they stand on."""
