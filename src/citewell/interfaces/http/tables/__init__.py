"""Statements that people write over tables, saved questions, boards."""
