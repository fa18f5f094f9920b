"""Both clients and the functions of the module."""
