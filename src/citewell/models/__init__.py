"""What thinks, reads and embeds: one provider a file; `providers.py` has the tables of them."""
