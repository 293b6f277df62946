"""Adding very many files on a Ray cluster, with the functions that `service/library` adds with."""
