"""The functions of the module."""
