"""Questions over tables: linking, planning, mending, running statements; read only."""
