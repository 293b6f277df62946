"""What people confirmed and corrected, as rows and files."""
