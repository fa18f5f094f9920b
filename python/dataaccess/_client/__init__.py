"""Both clients and the functions of the module. `synchronous` and `functions` are generated."""
