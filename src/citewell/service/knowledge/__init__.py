"""What people confirm and correct."""
