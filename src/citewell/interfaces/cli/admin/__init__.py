"""Commands that run and keep an installation."""
