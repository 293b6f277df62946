"""Routes under `/api`: one noun a file, one router each; `ROUTERS` of the package lists them."""
