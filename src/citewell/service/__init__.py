"""What every interface calls, one verb a file; interfaces decide, and services show, nothing."""
